import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { IN_FRONT, web } from '@troupe/contract';
import { check } from '../checks.ts';
import { actorOf, pairs, sentence } from './identity/audit-words.ts';
import type { Entry } from './identity/audit-words.ts';
import { problemOf, signWith } from './identity/wallet-auth/providers.ts';
import { capBody, capName } from './money/costs/cap.ts';
import { isDone, isRunning, isSettled, isUnderWay, nextOf, stepsOf } from './platform/overview/progress.ts';
import type { Done } from './platform/overview/progress.ts';
import { stagedOf } from './platform/overview/stage-groups.ts';
import { eventBody, NEW_EVENT } from './underground/events/new-event.ts';
import { readRecipients } from './underground/recipients.ts';

describe('the first page', () => {
  test('says when the next task that is on is due', () => {
    const task = (nextRun: string | null, enabled = true) => ({ nextRun, enabled });
    assert.equal(nextOf([task('2026-03'), task('2026-01', false), task('2026-02'), task(null)]), '2026-02');
    assert.equal(nextOf([]), undefined);
  });

  test('knows when all has been answered, one way or the other', () => {
    assert.ok(
      isSettled([
        { data: 0, error: null },
        { data: undefined, error: new Error('away') },
      ]),
    );
    assert.ok(
      !isSettled([
        { data: 1, error: null },
        { data: undefined, error: null },
      ]),
    );
    assert.ok(isSettled([{ data: null, error: null }]));
  });

  test('leads to the first step that is not done; those that are not one’s own are left out', () => {
    const all = { plan: 'a', provider: 'b', agent: 'c', task: 'd' };
    const { steps, current } = stepsOf(all, { plan: true, agent: false, task: false });
    assert.deepEqual([steps.map(([step]) => step), current], [['plan', 'agent', 'task'], 'agent']);
    assert.equal(stepsOf(all, { plan: true }).current, undefined);
  });

  test('shows the way to whoever is on it, also by what a browser has kept, which may be anything', () => {
    assert.ok(isUnderWay({ plan: true, agent: false }));
    const none: Done[] = [{ plan: false, agent: false }, { agent: false }, { plan: true, agent: true }];
    for (const done of none) assert.ok(!isUnderWay(done));
    assert.ok(isDone({ plan: true, agent: false }));
    for (const kept of [undefined, null, 'x', { plan: 'yes' }]) assert.ok(!isDone(kept));
  });

  test('counts the agents that run', () => {
    assert.deepEqual(
      ['running', 'active', 'stopped', ''].map((status) => isRunning({ status })),
      [true, true, false, false],
    );
  });
});

describe('the stage', () => {
  const actor = (id: number, state: 'working' | 'ready', teamId: string | null = null) => ({
    id: String(id),
    name: `Agent ${id}`,
    teamId,
    teamName: teamId,
    state,
    sessionId: null,
    about: null,
    handedBy: null,
    since: null,
    tags: id % 5 === 0 ? ['Pinned', 'Press'] : [],
    said: null,
    next: null,
    spentUsd: 0,
  });

  test('shows few as they are, and of many those at work, each once', () => {
    const few = [actor(1, 'ready'), actor(2, 'working')];
    assert.deepEqual(stagedOf(few), { front: few, hidden: 0, groups: [] });
    const many = Array.from({ length: 500 }, (_, id) => actor(id, id < 15 ? 'working' : 'ready', id % 2 ? 'a' : null));
    const { front, hidden, groups } = stagedOf(many);
    assert.deepEqual([front.length, hidden, groups.length], [IN_FRONT, 3, 2]);
    const all = [...front, ...groups.flatMap(({ actors }) => actors)].map(({ id }) => id);
    assert.deepEqual([all.length, new Set(all).size], [500, 500]);
    const shapes = (by: 'tag' | 'state') => stagedOf(many, by).groups.map(({ name, actors }) => [name, actors.length]);
    assert.deepEqual(shapes('tag'), [
      ['Press', 97],
      [null, 391],
    ]);
    assert.deepEqual(shapes('state'), [
      ['working', 3],
      ['ready', 485],
    ]);
  });

  test('nobody changes places when somebody begins to work', () => {
    const names = (...states: ('working' | 'ready')[]) =>
      stagedOf(states.map((state, id) => actor(id, state)).toReversed()).front.map(({ id }) => id);
    assert.deepEqual(names('ready', 'ready', 'ready'), ['0', '1', '2']);
    assert.deepEqual(names('ready', 'working', 'ready'), ['0', '1', '2']);
  });
});

describe('a cap', () => {
  const agents = [{ id: 'a1', name: 'Ada' }];
  const named = (scope: 'user' | 'agent' | 'run', agentId: string | null) =>
    capName({ scope, agentId, period: 'month' }, agents);

  test('is called by whom it holds', () => {
    assert.match(named('agent', 'a1'), /^Ada, /);
    assert.match(named('agent', 'gone'), /^gone, /);
    assert.notEqual(named('agent', null), named('user', null));
    assert.doesNotMatch(named('run', null), /undefined/);
  });

  test('is sent as the contract takes it; null takes it away, and what is no number is refused', () => {
    const cap = { scope: 'agent', agentId: 'a1', period: 'day' } as const;
    check(web.usage.putCap, { body: capBody(cap, 5) });
    check(web.usage.putCap, { body: capBody(cap, null) });
    assert.deepEqual(capBody({ scope: 'user', agentId: null, period: 'month' }, 1), {
      scope: 'user',
      period: 'month',
      limitUsd: 1,
    });
    for (const limit of [Number.NaN, -1, 1_000_001])
      assert.throws(() => check(web.usage.putCap, { body: capBody(cap, limit) }), /limitUsd/);
  });
});

describe('the record of what was done', () => {
  const entry = (more: Partial<Entry>): Entry =>
    ({ detail: {}, email: null, actorId: null, actorEmail: null, ...more }) as Entry;

  const words = (one: Entry) => pairs(one).flat().join(' ');

  test('is words: no ids, nothing that stands elsewhere, addresses short', () => {
    const told = words(
      entry({
        email: 'a@b.org',
        detail: { agentId: 'x', to: '0x1234567890abcdef', about: 'a@b.org', none: null, list: ['0x1234567890abcdef'] },
      }),
    );
    assert.doesNotMatch(told, /agentId|a@b\.org|none|567890/);
    assert.match(told, /0x1234…cdef/);
  });

  test('of anything that a detail may be', () => {
    assert.equal(words(entry({ detail: {} })), '');
    assert.match(words(entry({ detail: { odd: { a: 1 }, n: 0, no: false } })), /odd a: 1 n 0 no false/);
    const change = {
      from: { plan: 'none', subscriptionStatus: null },
      to: { plan: 'solo', subscriptionStatus: 'active' },
    };
    assert.equal(words(entry({ detail: change })), 'before plan: none afterwards plan: solo, subscription: active');
  });

  test('names who did it: an administrator, the user, or nobody any more', () => {
    assert.equal(actorOf(entry({ email: 'u@b.org' })), 'u@b.org');
    assert.equal(actorOf(entry({ actorId: '1', actorEmail: 'admin@b.org', email: 'u@b.org' })), 'admin@b.org');
    assert.notEqual(actorOf(entry({ actorId: '1', email: 'u@b.org' })), 'u@b.org');
    assert.equal(actorOf(entry({})), '–');
  });

  test('an action without words of its own is readable', () => {
    assert.equal(sentence('key-created_by.admin'), 'Key created by admin');
    assert.equal(sentence(''), '');
  });
});

describe('an event', () => {
  const form = { ...NEW_EVENT, name: 'Gig', description: 'Loud', venue: 'Hall', date: '2026-12-24T20:00' };

  test('is sent as the contract takes it, with the moment of here', () => {
    const body = eventBody(form, 'first');
    check(web.events.create, { body });
    assert.deepEqual([body.agentId, body.eventDate], ['first', new Date(2026, 11, 24, 20).toISOString()]);
    assert.equal(eventBody({ ...form, agentId: 'own' }, 'first').agentId, 'own');
  });

  test('without a day or with tickets that are no number is refused, not thrown', () => {
    const refused = (change: Partial<typeof form>, text: RegExp) =>
      assert.throws(() => check(web.events.create, { body: eventBody({ ...form, ...change }, 'a') }), text);
    refused({ date: '' }, /Invalid eventDate/);
    refused({ date: 'soon' }, /Invalid eventDate/);
    refused({ tickets: '' }, /totalTickets/);
    refused({ tickets: '0.5' }, /totalTickets/);
    refused({ price: '-1' }, /ticketPriceUsdc/);
  });
});

test('recipients are an address and a share a line', () => {
  assert.deepEqual(readRecipients('0xa 60\n 0xb,  40 \n\n0xc;5'), [
    { address: '0xa', share: 60 },
    { address: '0xb', share: 40 },
    { address: '0xc', share: 5 },
  ]);
  assert.deepEqual(readRecipients(''), []);
  for (const line of ['0xa', '0xa many', '0xa ,']) assert.ok(Number.isNaN(readRecipients(line)[0]!.share), line);
});

describe('a wallet', () => {
  const wallet = (chain: string, accounts: string[] = ['0xabc']) => {
    const asked: string[] = [];
    const request = async ({ method, params }: { method: string; params?: unknown[] }) => {
      asked.push(params ? `${method} ${JSON.stringify(params)}` : method);
      return { eth_requestAccounts: accounts, eth_chainId: chain, personal_sign: '0xsigned' }[method] ?? null;
    };
    return { asked, request };
  };

  test('signs what was made for its address, in bytes', async () => {
    const { asked, request } = wallet('0x2105');
    const signed = await signWith({ request }, 8453, async (address) => `Hi ${address} ü`);
    assert.deepEqual(signed, { address: '0xabc', message: 'Hi 0xabc ü', signature: '0xsigned' });
    const hex = Buffer.from('Hi 0xabc ü').toString('hex');
    assert.deepEqual(asked, ['eth_requestAccounts', 'eth_chainId', `personal_sign ["0x${hex}","0xabc"]`]);
  });

  test('on another chain is asked to change', async () => {
    const { asked, request } = wallet('0x1');
    await signWith({ request }, 8453, async () => 'Hi');
    assert.ok(asked.includes('wallet_switchEthereumChain [{"chainId":"0x2105"}]'));
  });

  test('without an account signs nothing', async () => {
    const { asked, request } = wallet('0x2105', []);
    assert.equal(await signWith({ request }, 8453, async () => 'Hi'), null);
    assert.equal(asked.length, 1);
  });

  test('may refuse with anything', () => {
    assert.equal(problemOf(new Error('no')), 'no');
    assert.equal(problemOf({ code: 4001, message: 'rejected' }), 'rejected');
    assert.equal(problemOf('plain'), 'plain');
    assert.equal(problemOf(null), 'null');
    assert.equal(problemOf(undefined), 'undefined');
    assert.equal(problemOf({ message: 7 }), '[object Object]');
  });
});
