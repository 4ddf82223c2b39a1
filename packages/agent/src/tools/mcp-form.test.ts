import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ElicitRequestParams } from '@modelcontextprotocol/client';
import { contentOf, questionOf } from './mcp-form.ts';

const form = (properties: object, required: string[] = []): ElicitRequestParams =>
  ({
    mode: 'form',
    message: 'Please',
    requestedSchema: { type: 'object', properties, required },
  }) as ElicitRequestParams;

describe('what is said to a form of one field', () => {
  const rows: [string, object, string, unknown][] = [
    ['text', { type: 'string' }, ' words: and more ', 'words: and more'],
    ['text of a length', { type: 'string', minLength: 3 }, 'ab', /too short/],
    ['an address', { type: 'string', format: 'email' }, 'ada@example.org', 'ada@example.org'],
    ['no address', { type: 'string', format: 'email' }, 'ada', /is no email/],
    ['a day', { type: 'string', format: 'date' }, '2026-11-18', '2026-11-18'],
    ['no day', { type: 'string', format: 'date' }, '2026-13-18', /is no date/],
    ['an unknown format', { type: 'string', format: '__proto__' }, 'x', 'x'],
    ['a number', { type: 'number' }, '2.5', 2.5],
    ['no number', { type: 'number' }, 'two', /not a number/],
    ['no whole number', { type: 'integer' }, '2.5', /whole number/],
    ['a number too large', { type: 'integer', maximum: 3 }, '4', /too small or too large/],
    ['yes', { type: 'boolean' }, 'yes', true],
    ['false', { type: 'boolean' }, 'false', false],
    ['neither', { type: 'boolean' }, 'perhaps', /not one of Yes, No/],
    ['one of some', { type: 'string', enum: ['a', 'b'] }, 'b', 'b'],
    ['one by its name', { type: 'string', enum: ['a', 'b'], enumNames: ['Ada', 'Bob'] }, 'bob', 'b'],
    ['one by its title', { type: 'string', oneOf: [{ const: 'a', title: 'Ada' }] }, 'Ada', 'a'],
    ['another', { type: 'string', enum: ['a'] }, 'c', /not one of a/],
    ['several', { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } }, 'a, C', ['a', 'c']],
    ['several titled', { type: 'array', items: { anyOf: [{ const: 'a', title: 'Ada' }] } }, 'Ada', ['a']],
    ['too many', { type: 'array', maxItems: 1, items: { type: 'string', enum: ['a', 'b'] } }, 'a,b', /that many/],
    ['what is proposed', { type: 'string', default: 'tea' }, 'As proposed', 'tea'],
    ['nothing', { type: 'string' }, '', /is needed/],
  ];
  for (const [what, field, said, wanted] of rows)
    test(what, () => {
      const read = contentOf(form({ it: field }, ['it']), said);
      if (wanted instanceof RegExp) assert.match('wrong' in read ? read.wrong : JSON.stringify(read), wanted);
      else assert.deepEqual(read, { content: { it: wanted } });
    });
});

describe('a form of several fields', () => {
  const both = form(
    { name: { type: 'string', title: 'Full name' }, age: { type: 'integer' }, tea: { type: 'boolean', default: true } },
    ['name'],
  );

  test('is answered by lines, of names or titles', () => {
    assert.deepEqual(contentOf(both, '- full name: Ada: the first\n\nage = 36'), {
      content: { name: 'Ada: the first', age: 36, tea: true },
    });
    assert.deepEqual(contentOf(both, 'age: 36'), { wrong: 'name is needed.' });
    assert.deepEqual(contentOf(both, 'nme: Ada'), { wrong: 'There is no field “nme”.' });
    assert.deepEqual(contentOf(both, 'Ada'), { wrong: 'There is no field “Ada”.' });
  });

  test('says what it wants, and how', () => {
    assert.deepEqual(questionOf('hotel', both), {
      title: 'hotel asks',
      message:
        'Please\n\n- name: Full name (needed)\n- age (integer)\n- tea (one of: Yes, No; proposed: Yes)\n\nAnswer with a line for each, as `name: value`.',
    });
    assert.deepEqual(questionOf('hotel', form({ a: { type: 'string' }, b: { type: 'string' } }))?.options, [
      'As proposed',
    ]);
  });

  test('cannot pass for anything else: what is not seen is taken out, and what is long is cut', () => {
    const { message, title } = questionOf('hotel', { ...both, message: `a\u0007b\u202ec${'x'.repeat(9_000)}` })!;
    assert.match(message, /^a b cx+\n\n- name/);
    assert.ok(message.length < 5_000);
    assert.equal(title, 'hotel asks');
  });
});

test('a form without fields is agreed to, or not', () => {
  assert.deepEqual(questionOf('hotel', form({})), { title: 'hotel asks', message: 'Please', options: ['Done'] });
  assert.deepEqual(contentOf(form({}), 'Done'), { content: {} });
});
