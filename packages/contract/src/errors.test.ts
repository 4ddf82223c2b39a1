import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { errorCheck, errorsOf } from './errors.ts';
import { validationMessage } from './messages.ts';
import { openApi } from './openapi.ts';

const base = { service: 'web', method: 'POST', path: '/x', summary: 'A test', tag: 'Test', auth: 'none' } as const;

test('a text is exact but for what stands in angle brackets', () => {
  const wrong = errorCheck(
    endpoint({ ...base, errors: { 404: ['Not here.'], 409: ['<name> is taken (max <n>)', 'Agent <id> (a.b)'] } }),
  );
  for (const [status, text] of [
    [404, 'Not here.'],
    [409, 'Ada is taken (max 3)'],
    [409, 'two\nlines is taken (max x)'],
    [409, 'Agent 1 (a.b)'],
  ] as const)
    assert.equal(wrong(status, text), undefined, text);
  for (const [status, text] of [
    [404, 'Not here'],
    [404, 'Not here!'],
    [400, 'Not here.'],
    [409, ' is taken (max )'],
    [409, 'Ada is taken (max 3) and more'],
    [409, 'Agent 1 (aXb)'],
  ] as const)
    assert.equal(
      wrong(status, text),
      `POST /x of web answers ${status} with ${JSON.stringify(text)}, which its contract does not declare`,
    );
});

test('an answer without a text needs its status', () => {
  const wrong = errorCheck(endpoint({ ...base, errors: { 503: [] } }));
  assert.equal(wrong(503, undefined), undefined);
  assert.match(wrong(500, undefined) ?? '', /answers 500 with no text/);
});

test('the guard’s words, those of the way in and those of all endpoints are declared', () => {
  const wrong = errorCheck(
    endpoint({ ...base, auth: 'session', unauthorized: 'Who?', failure: 'Broken', pages: true }),
  );
  for (const [status, text] of [
    [401, 'Who?'],
    [403, 'Invalid CSRF token'],
    [403, 'This key is not for pages of https://a.example: make one that names it'],
    [413, 'Request body too large'],
    [500, 'Broken'],
  ] as const)
    assert.equal(wrong(status, text), undefined, text);
  assert.notEqual(wrong(401, 'Unauthorized'), undefined);
  assert.notEqual(errorCheck(endpoint(base))(401, 'Unauthorized'), undefined);
});

test('texts of a schema are declared by it, however deep', () => {
  const body = z.object(
    {
      name: z.string({ error: 'Name required' }).trim().min(1, 'Name empty').optional(),
      parts: z.array(z.object({ share: z.number('Bad share').max(9, 'Share too large') })).nullable(),
      either: z.union([z.string().regex(/a/, 'No a'), z.number()], { error: 'Neither' }),
      action: z.string().pipe(z.enum(['a', 'b'], { error: 'Bad action' })),
      made: z.string({ error: (issue) => `Bad ${String(issue.input)}` }),
    },
    { error: 'Bad body' },
  );
  assert.deepEqual(errorsOf(endpoint({ ...base, body })), {
    400: ['Bad body', 'Name required', 'Name empty', 'Bad share', 'Share too large', 'Neither', 'No a', 'Bad action'],
  });
});

test('whatever is made of an issue without a text of its own is declared for all', () => {
  const schemas = [
    z.object({ a: z.string() }),
    z.object({ a: z.object({ b: z.array(z.number()) }) }),
    z.object({ a: z.string().min(3) }),
    z.object({ a: z.string().max(1) }),
    z.object({ a: z.number().max(1) }),
    z.object({ a: z.enum(['x']) }),
    z.object({ a: z.email() }),
    z.object({ a: z.string().regex(/y/) }),
    z.object({ a: z.union([z.number(), z.boolean()]) }),
    z.strictObject({}),
    z.array(z.string()),
  ];
  const wrong = errorCheck(endpoint(base));
  let found = 0;
  for (const schema of schemas)
    for (const given of [undefined, {}, { a: 'zz' }, { a: 5 }, { a: { b: ['z'] } }, { a: null }]) {
      const parsed = schema.safeParse(given);
      if (parsed.success) continue;
      found += 1;
      assert.equal(wrong(400, validationMessage(parsed.error, 'body')), undefined);
    }
  assert.ok(found > 40, String(found));
  assert.notEqual(wrong(400, 'what you sent is required'), undefined);
});

test('who passes on another endpoint’s refusals says what it says, without its guard', () => {
  const behind = endpoint({ ...base, auth: 'internal', errors: { 409: ['Taken'] } });
  const before = endpoint({ ...base, errors: { 502: ['Away'] }, passesOn: () => [behind] });
  assert.deepEqual(errorsOf(before), { 409: ['Taken'], 502: ['Away'] });
});

test('the reference shows what is declared', () => {
  const one = endpoint({ ...base, auth: 'session', errors: { 409: ['Taken', '<name> is gone'] } });
  const { paths } = openApi([one], { title: '', version: '', url: '' }) as {
    paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
  };
  const { responses } = paths['/x']!['post']!;
  assert.equal(responses['409']?.description, 'Taken · <name> is gone');
  assert.equal(responses['401']?.description, 'Unauthorized');
});
