import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { LiveEvent } from '../agent.ts';
import { NOTHING_SPENT, type SessionEvent, type SessionEventBody } from '../session/events.ts';
import { answerTo, openTrail } from '../session/session.ts';
import { counter, testAgent, web } from '../testing.ts';

/** Whoever asks gets the answer to what they asked, however many ask in one conversation at the same moment. */

type Move = 'message' | 'look' | 'words' | 'tool' | 'end' | 'cancel';

/** A log as the loop could have written it: a model is shown all there is, and speaks after more may have come in. */
function play(moves: readonly Move[]): SessionEvent[] {
  const log: SessionEvent[] = [];
  let saw = 0;
  let open = false;
  const add = (body: SessionEventBody): void => void log.push({ ...body, seq: log.length + 1, at: `t${log.length}` });
  const assistant = (isFinal: boolean): SessionEventBody => ({
    type: 'assistant',
    content: `${isFinal ? 'final' : 'on the way'} ${saw} at ${log.length + 1}`,
    toolCalls: isFinal ? [] : [{ callId: `c${log.length}`, tool: 't', args: '{}' }],
    model: 'm',
    spent: { ...NOTHING_SPENT, tokens: 1, turns: 1 },
    saw,
  });
  for (const move of moves) {
    if (move === 'message') {
      add({ type: 'user', content: `message ${log.length + 1}` });
      open = true;
    } else if (move === 'look') saw = log.length;
    else if (!open || saw === 0) continue;
    else if (move === 'tool') add(assistant(false));
    else if (move === 'words') {
      const newest = log.findLast(({ type }) => type === 'user')?.seq ?? 0;
      add(assistant(true));
      if (newest > saw) continue;
      add({ type: 'run_ended', outcome: 'done', spent: NOTHING_SPENT });
      open = false;
    } else {
      add({
        type: 'run_ended',
        outcome: move === 'cancel' ? 'cancelled' : 'limit',
        reason: 'over',
        spent: NOTHING_SPENT,
      });
      open = false;
    }
  }
  return log;
}

const moves = fc.array(fc.constantFrom<Move>('message', 'look', 'words', 'tool', 'look', 'message', 'end', 'cancel'), {
  maxLength: 40,
});

describe('the answer to an input', () => {
  test('is the first that saw it, in every order of things', () => {
    fc.assert(
      fc.property(moves, (given) => {
        const log = play(given);
        for (const { seq, type } of log) {
          if (type !== 'user') continue;
          const found = answerTo(log, seq);
          const end = log.find((event) => event.seq > seq && event.type === 'run_ended');
          const first = log.find(
            (event) =>
              event.type === 'assistant' && event.seq > seq && event.saw >= seq && event.toolCalls.length === 0,
          );
          if (first?.type === 'assistant' && (!end || first.seq < end.seq)) {
            assert.equal(found?.reply, first.content);
            assert.equal(found?.outcome, 'done');
          } else if (end?.type === 'run_ended') {
            assert.equal(found?.outcome, end.outcome);
            // Words that never saw it are never its answer.
            const shown = /^(?:final|on the way) (\d+)/.exec(found?.reply ?? '')?.[1];
            assert.ok(shown === undefined || Number(shown) >= seq);
          } else assert.equal(found, undefined);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('is the same however the events are heard', () => {
    fc.assert(
      fc.property(moves, fc.infiniteStream(fc.nat()), (given, order) => {
        const log = play(given);
        const asked = log.find(({ type }) => type === 'user');
        if (!asked) return;
        const trail = openTrail(asked.seq);
        const keys = order.take(log.length * 2);
        const heard = [...log, ...log].map((event) => ({ event, key: keys.next().value as number }));
        heard.sort((a, b) => a.key - b.key);
        for (const { event } of heard) trail.add(event);
        assert.deepEqual(trail.answer()?.reply, answerTo(log, asked.seq)?.reply);
        assert.equal(trail.last(), log.length);
      }),
      { numRuns: 500 },
    );
  });

  test('reaches the one who asked, live and streamed, with any timing', { timeout: 60_000 }, async () => {
    const { tool } = counter();
    for (let round = 0; round < 60; round += 1) {
      const wait = (): Promise<unknown> => delay(Math.random() * 4);
      const { agent, store } = await testAgent({
        toolList: [tool],
        script: async ({ messages }, turn) => {
          const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));
          await wait();
          if (turn % 4 === 3 && messages.at(-1)?.role === 'user')
            return { calls: [{ tool: 'count', args: { what: 'x' } }] };
          return `heard ${asked.join(' ')}`;
        },
      });
      const ask = async (name: string): Promise<void> => {
        await wait();
        const streamed: string[] = [];
        const listener = (live: LiveEvent): void => {
          if (live.kind === 'delta') streamed.push(live.text);
        };
        const { reply, sessionId } = await agent.ask({ to: web, content: name }, listener);
        const log = await store.events(sessionId, { after: 0, limit: 100 });
        const first = log.find((event) => event.type === 'assistant' && event.content.split(' ').includes(name));
        assert.equal(reply, first?.type === 'assistant' ? first.content : '');
        assert.ok(reply.split(' ').includes(name), `${name} was answered with ${reply}`);
        const written = streamed.join('');
        assert.ok(written === '' || written.startsWith(reply), `${name} was streamed ${written} instead of ${reply}`);
      };
      await Promise.all([ask('one'), ask('two'), ask('three')]);
      await agent.sleep();
    }
  });
});
