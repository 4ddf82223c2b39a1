import assert from 'node:assert/strict';
import { afterEach, describe, mock, test } from 'node:test';
import { CallError, web } from '@troupe/contract';
import { call, carefully, codeOf, confirmWho, onConfirmFirst, statusOf } from './api.ts';
import { withChallenge } from './challenge.ts';
import { loadPage, PageAway } from './offline.ts';
import { states } from './texts/common.ts';

const json = (body: unknown, status = 200) => Response.json(body, { status });
type Answer = (path: string, init: RequestInit) => Response | Promise<Response>;

/** The platform, as a function. Answers with what was asked of it. */
function platform(answer: Answer): string[] {
  const asked: string[] = [];
  mock.method(globalThis, 'fetch', async (input: string, init: RequestInit = {}) => {
    asked.push(`${init.method ?? 'GET'} ${input}`);
    return answer(input, init);
  });
  return asked;
}
const away = () => platform(() => Promise.reject(new TypeError('Failed to fetch')));
afterEach(() => mock.restoreAll());

describe('a call', () => {
  test('answers what the platform says', async () => {
    const asked = platform(() => json({ keys: [] }));
    assert.deepEqual(await call(web.keys.list, {}), { keys: [] });
    assert.deepEqual(asked, ['GET /api/keys']);
  });

  test('that the contract refuses never leaves the browser', async () => {
    const asked = platform(() => json({}));
    await assert.rejects(call(web.keys.create, { body: { name: '' } }), { message: 'Name required', status: 400 });
    assert.deepEqual(asked, []);
  });

  test('to a platform that is away is told in words, with status 0', async () => {
    away();
    await assert.rejects(call(web.keys.list, {}), { message: states.unreachable, status: 0 });
    mock.restoreAll();
    platform(() => Promise.reject(new DOMException('slow', 'TimeoutError')));
    await assert.rejects(call(web.keys.list, {}), { message: states.noAnswer, status: 0 });
  });

  test('that was let go of is not told as a fault', async () => {
    platform(() => Promise.reject(new DOMException('gone', 'AbortError')));
    await assert.rejects(call(web.keys.list, {}), { name: 'AbortError' });
  });

  test('has a status and a code only where the platform gave them', () => {
    const error = new CallError(409, { error: 'Taken', code: 'TAKEN' });
    assert.deepEqual([statusOf(error), codeOf(error)], [409, 'TAKEN']);
    assert.deepEqual([statusOf(new Error('own')), codeOf(null)], [undefined, undefined]);
  });
});

describe('what has to be confirmed first', () => {
  const refuse = () => json({ error: 'Confirm', code: 'CONFIRM_FIRST' }, 403);
  const remove = () => carefully(web.keys.remove, { params: { id: 'a' } });

  test('is done after the person showed who they are', async () => {
    let isKnown = false;
    const asked = platform(() => (isKnown ? json({ success: true }) : refuse()));
    const stop = onConfirmFirst(async () => (isKnown = true));
    assert.deepEqual(await remove(), { success: true });
    assert.equal(asked.length, 2);
    stop();
  });

  test('is refused when the person lets it be, and when nobody can ask', async () => {
    const asked = platform(refuse);
    const stop = onConfirmFirst(async () => false);
    await assert.rejects(remove(), { status: 403 });
    stop();
    await assert.rejects(remove(), { status: 403 });
    assert.equal(await confirmWho(), false);
    assert.equal(asked.length, 2);
  });

  test('is asked by whoever came last; an earlier one that goes takes nothing away', async () => {
    platform(refuse);
    const stopFirst = onConfirmFirst(async () => false);
    const stopLast = onConfirmFirst(async () => true);
    stopFirst();
    assert.equal(await confirmWho(), true);
    stopLast();
  });

  test('any other refusal is not asked about', async () => {
    platform(() => json({ error: 'No' }, 403));
    const ask = mock.fn(async () => true);
    const stop = onConfirmFirst(ask);
    await assert.rejects(remove(), { status: 403 });
    assert.equal(ask.mock.callCount(), 0);
    stop();
  });
});

describe('a proof of work', () => {
  const digest = async (text: string) =>
    Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex');
  const puzzle = async (number: number, maxnumber: number) => ({
    algorithm: 'SHA-256',
    challenge: await digest(`salt${number}`),
    maxnumber,
    salt: 'salt',
    signature: 's',
  });
  const refusal = new CallError(403, { error: 'Access denied' });

  test('is not done where nobody asks for it', async () => {
    const asked = platform(() => json({}));
    assert.equal(await withChallenge(async (proof) => Object.keys(proof).length), 0);
    assert.deepEqual(asked, []);
  });

  test('is done once the platform has refused without it', async () => {
    const given = await puzzle(37, 100);
    const asked = platform(() => json(given));
    const solved = await withChallenge(async ({ altcha }) => {
      if (altcha === undefined) throw refusal;
      return JSON.parse(atob(altcha)) as { number: number; signature: string };
    });
    assert.deepEqual([solved.number, solved.signature], [37, 's']);
    assert.deepEqual(asked, [`GET ${web.session.getChallenge.path}`]);
  });

  test('that has no solution, or that nobody gives, leaves the refusal as it was', async () => {
    const given = await puzzle(37, 10);
    platform(() => json(given));
    const send = () => Promise.reject(refusal);
    await assert.rejects(withChallenge(send), refusal);
    mock.restoreAll();
    platform(() => json({ error: 'No challenge is needed' }, 404));
    await assert.rejects(withChallenge(send), refusal);
  });

  test('does not help against any other refusal', async () => {
    const asked = platform(() => json({}));
    const taken = new CallError(409, { error: 'User already exists' });
    await assert.rejects(
      withChallenge(() => Promise.reject(taken)),
      taken,
    );
    assert.deepEqual(asked, []);
  });
});

describe('a page that cannot be loaded', () => {
  const missing = new TypeError('Failed to fetch dynamically imported module');

  test('because the platform is away says so, and keeps the cause', async () => {
    away();
    const error = await loadPage(() => Promise.reject(missing)).catch((caught: unknown) => caught);
    assert.ok(error instanceof PageAway);
    assert.equal(error.cause, missing);
  });

  test('though the platform is there is the router’s to mend', async () => {
    const asked = platform(() => json({ status: 'ok' }));
    await assert.rejects(
      loadPage(() => Promise.reject(missing)),
      missing,
    );
    assert.deepEqual(asked, [`GET ${web.health.get.path}`]);
  });

  test('one that loads asks nobody', async () => {
    const asked = platform(() => json({}));
    assert.equal(await loadPage(async () => 'page'), 'page');
    assert.deepEqual(asked, []);
  });
});
