import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallError, web } from '@troupe/contract';
import { check, numberOf, refusal, refusedFields, stillRefused } from './checks.ts';
import { policyWords } from './pages/money/policy-words.ts';

const refused = (...[endpoint, sent]: Parameters<typeof check>): CallError => {
  try {
    check(endpoint, sent);
  } catch (error) {
    assert.ok(error instanceof CallError);
    return error;
  }
  assert.fail('nothing was refused');
};

test('what the contract allows is let through', () => {
  check(web.keys.create, { body: { name: 'ci' } });
  check(web.session.login, { body: { email: 'mÜller@exämple.org', password: ' ' } });
});

test('what it refuses is told in its own words, as the platform would answer', () => {
  const error = refused(web.keys.create, { body: { name: 'x'.repeat(65) } });
  assert.equal(error.status, 400);
  assert.equal(error.message, 'Name too long (max 64 chars)');
  assert.deepEqual(refusedFields(error), { name: 'Name too long (max 64 chars)' });
  assert.equal(refused(web.session.login, {}).message, 'Missing email or password');
});

test('a text that the schema made up names the field above the form, and is a sentence below it', () => {
  const error = refused(web.register.create, {
    body: { email: 'a@b.org', password: 'long enough', name: 'x'.repeat(101) },
  });
  assert.equal(error.message, 'name must be at most 100 characters');
  assert.deepEqual(refusedFields(error), { name: 'Must be at most 100 characters' });
});

test('each field is told of, the first word on each', () => {
  const error = refused(web.register.create, { body: { email: 'nobody', password: 'short', referralCode: '--- !' } });
  assert.deepEqual(Object.keys(refusedFields(error)), ['email', 'password', 'referralCode']);
});

test('a part of the path is checked, also when it is a number', () => {
  const body = { url: 'https://example.org/mcp' };
  assert.match(refused(web.connections.attach, { params: { id: 'a', name: 'a b' }, body }).message, /letters, digits/);
  assert.match(
    refused(web.connections.attach, { params: { id: 'a', name: '-'.repeat(2000) }, body }).message,
    /letters/,
  );
  check(web.connections.attach, { params: { id: 'a', name: 7 }, body });
});

test('a file is not looked at', () => check(web.skills.reviewArchive, { bytes: new Uint8Array(4) }));

test('what is wrong with the whole is told of no field', () => {
  const error = refused(web.secondStep.pass, { body: {} });
  assert.deepEqual(refusedFields(error), {});
  assert.deepEqual(refusal(error, ['code']), { at: {}, rest: error.message });
});

test('an error stands at its field, and beneath the form what no field shows', () => {
  const error = refused(web.register.create, { body: { email: 'nobody', password: 'short' } });
  assert.deepEqual(refusal(error, ['email', 'password']), { at: refusedFields(error) });
  const half = refusal(error, ['password']);
  assert.deepEqual([Object.keys(half.at), half.rest], [['password'], error.message]);
  assert.deepEqual(refusal(null, ['email']), { at: {} });
  assert.deepEqual(refusal(new Error('away'), ['email']), { at: {}, rest: 'away' });
});

test('an error within a list stands at the list', () => {
  const error = refused(web.policy.put, { params: { id: 'a' }, body: { payees: ['nobody'] } });
  assert.deepEqual(Object.keys(refusedFields(error)), ['payees.0']);
  assert.deepEqual(Object.keys(refusal(error, ['payees']).at), ['payees']);
  // `payees` is not `pay`.
  assert.notEqual(refusal(error, ['pay']).rest, undefined);
});

test('while it is mended the words follow; what the platform said stays', () => {
  const params = { id: 'a' };
  const error = refused(web.policy.put, { params, body: { perDay: 'many' } });
  const worse = stillRefused(error, web.policy.put, { params, body: { perPayment: '-1' } });
  assert.deepEqual(Object.keys(refusedFields(worse)), ['perPayment']);
  assert.equal(stillRefused(error, web.policy.put, { params, body: { perDay: '20' } }), null);
  const told = new CallError(409, { error: 'Taken' });
  assert.equal(stillRefused(told, web.policy.put, { params, body: {} }), told);
  assert.equal(stillRefused(null, web.policy.put, { params, body: { perDay: 'many' } }), null);
});

test('nothing typed is no number, and no zero', () => {
  assert.deepEqual([numberOf('0'), numberOf('1.50'), numberOf('-3')], [0, 1.5, -3]);
  for (const typed of ['', '   ', 'many', '1,5']) assert.ok(Number.isNaN(numberOf(typed)), typed);
});

test('a policy says which payee is none, in words for people', () => {
  const payees = ['0x1111111111111111111111111111111111111111', 'somebody'];
  const error = refused(web.policy.put, { params: { id: 'a' }, body: { perDay: 'many', payees } });
  const words = policyWords(refusedFields(error), payees);
  assert.match(words.payees ?? '', /^somebody is not an address/);
  assert.match(words.perDay ?? '', /such as 20/);
  assert.equal(words.perPayment, undefined);
  const many = Array.from({ length: 101 }, () => payees[0]!);
  const tooMany = refused(web.policy.put, { params: { id: 'a' }, body: { payees: many } });
  assert.match(policyWords(refusedFields(tooMany), many).payees ?? '', /^At most 100/);
});
