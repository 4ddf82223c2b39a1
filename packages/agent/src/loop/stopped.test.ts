import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createAi, createStandIn, providersFrom, type StandIn } from '@troupe/ai';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { readSettings, silentLog } from '@troupe/kernel';
import type { LiveEvent } from '../agent.ts';
import type { SessionEvent } from '../session/events.ts';
import { answerTo, readSession } from '../session/session.ts';
import { lastText, testAgent, web } from '../testing.ts';

/** An answer that is stopped in the middle: what was said stays, and so does what it cost. */

const MODEL = 'xiaomi/mimo-v2-pro';

/** A model that writes two words and then nothing more. */
async function slowModel(): Promise<StandIn> {
  return createStandIn((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of ['Berlin ', 'moved'])
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
  });
}

async function talkingTo(upstream: StandIn) {
  const settings = readSettings({ OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: upstream.url });
  const ai = createAi({ providers: providersFrom(settings), catalogue: BUILT_IN_CATALOGUE, log: silentLog });
  const made = await testAgent({ model: ai });
  await made.agent.configure({ model: { default: MODEL, fallbacks: [] } });
  return { ...made, close: async () => void (await Promise.all([ai.close(), upstream.close()])) };
}

const waitForText = (agent: Awaited<ReturnType<typeof talkingTo>>['agent'], sessionId: string, text: string) =>
  new Promise<void>((resolve) => {
    let heard = '';
    const stop = agent.watch(sessionId, (live) => {
      if (live.kind === 'delta') heard += live.text;
      if (!heard.includes(text)) return;
      stop();
      resolve();
    });
  });

test('Stop keeps what was said and says what it cost', async () => {
  const { agent, store, close } = await talkingTo(await slowModel());
  const opened = await store.deliver({ to: web, events: [] });
  const sessionId = opened!.session.id;
  const written = waitForText(agent, sessionId, 'moved');
  const asked = agent.ask({ to: web, content: 'What is new?' }, () => undefined);
  await written;
  await agent.cancel(sessionId, 'owner');
  const answer = await asked;
  assert.equal(answer.outcome, 'cancelled');
  assert.match(answer.reply, /^Berlin moved\n/);
  const events = await store.events(sessionId, { after: 0, limit: 100 });
  const said = events.find((event): event is SessionEvent & { type: 'assistant' } => event.type === 'assistant');
  assert.deepEqual([said?.content, said?.stopped, said?.model], ['Berlin moved', true, MODEL]);
  assert.ok(said!.spent.costMicros > 0 && said!.spent.tokens > 0);
  const end = events.at(-1);
  assert.ok(end?.type === 'run_ended' && end.outcome === 'cancelled');
  assert.deepEqual(end.spent, said!.spent);
  await agent.sleep();
  await close();
});

test('who begins to follow in the middle of an answer hears it from its first word, once', async () => {
  const { agent, store, close } = await talkingTo(await slowModel());
  const sessionId = (await store.deliver({ to: web, events: [] }))!.session.id;
  const written = waitForText(agent, sessionId, 'moved');
  const asked = agent.ask({ to: web, content: 'What is new?' }, () => undefined);
  await written;
  const gone = new AbortController();
  const heard: LiveEvent[] = [];
  for await (const live of agent.follow(sessionId, 0, gone.signal)) {
    heard.push(live);
    if (live.kind === 'delta') await agent.cancel(sessionId, 'owner');
    if (live.kind === 'event' && live.event.type === 'run_ended') gone.abort();
  }
  assert.deepEqual(
    heard.map((live) => (live.kind === 'delta' ? `${live.fresh ? 'fresh ' : ''}${live.text}` : live.event.type)),
    ['user', 'fresh Berlin moved', 'cancel_requested', 'assistant', 'run_ended'],
  );
  await asked;
  // And nobody hears the words of an answer that is over.
  const late = new AbortController();
  const after: string[] = [];
  for await (const live of agent.follow(sessionId, 0, late.signal)) {
    after.push(live.kind === 'delta' ? live.text : live.event.type);
    if (after.includes('run_ended')) late.abort();
  }
  assert.ok(!after.includes('Berlin moved'));
  await agent.sleep();
  await close();
});

test('an answer that was stopped before its first word costs what was read', async () => {
  const door = new EventEmitter();
  const silent = await createStandIn((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    door.emit('asked');
  });
  const { agent, store, close } = await talkingTo(silent);
  const asking = once(door, 'asked');
  const asked = agent.ask({ to: web, content: 'What is new?' }, () => undefined);
  await asking;
  const [session] = await store.sessions({ limit: 1, offset: 0 });
  await agent.cancel(session!.id, 'owner');
  const { outcome, spent } = await asked;
  assert.equal(outcome, 'cancelled');
  assert.ok(spent.costMicros > 0);
  await agent.sleep();
  await close();
});

/** An agent whose first answer goes on until it is stopped, and then for as long as the test says. */
async function stoppedLate() {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const made = await testAgent({
    script: async (request, turn, signal) => {
      if (turn > 1) return `You said: ${lastText(request)}`;
      const stopped = once(signal!, 'abort');
      begun.resolve();
      await stopped;
      await over.promise;
      return 'too late';
    },
  });
  return { ...made, begun: begun.promise, end: () => over.resolve() };
}

test('what is said after Stop, while the run still ends, is answered by a run of its own', async () => {
  const { agent, store, model, begun, end } = await stoppedLate();
  const first = agent.ask({ to: web, content: 'What is new?' });
  await begun;
  const [session] = await store.sessions({ limit: 1, offset: 0 });
  await agent.cancel(session!.id, 'owner');
  const taken = Promise.withResolvers<{ seq: number }>();
  const second = agent.ask({ to: web, content: 'Rather the weather', onTaken: taken.resolve });
  const { seq } = await taken.promise;
  end();
  assert.equal((await first).outcome, 'cancelled');
  const { outcome, reply } = await second;
  assert.deepEqual([outcome, reply], ['done', 'You said: Rather the weather']);
  // The model was asked once more, and reads the newest words last.
  assert.equal(model.requests.length, 2);
  const events = await store.events(session!.id, { after: 0, limit: 100 });
  const ends = events.filter((event) => event.type === 'run_ended');
  assert.deepEqual(
    ends.map(({ outcome: how, leaves }) => [how, leaves]),
    [
      ['cancelled', seq],
      ['done', undefined],
    ],
  );
  assert.equal(readSession(events).run, undefined);
  assert.equal((await store.session(session!.id))?.status, 'idle');
  await agent.sleep();
});

test('the run that begins so can be stopped at once, too', async () => {
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { agent, store } = await testAgent({
    script: async (_request, turn, signal) => {
      const stopped = once(signal!, 'abort');
      begun[turn - 1]!.resolve();
      await stopped;
      return 'too late';
    },
  });
  const first = agent.ask({ to: web, content: 'One' });
  await begun[0]!.promise;
  const [session] = await store.sessions({ limit: 1, offset: 0 });
  // Said in the same moment as the stop: both are in the log before the run looks.
  await agent.cancel(session!.id, 'owner');
  const second = agent.ask({ to: web, content: 'Two' });
  assert.equal((await first).outcome, 'cancelled');
  await begun[1]!.promise;
  assert.equal(agent.busy(), 1);
  await agent.cancel(session!.id, 'owner');
  assert.equal((await second).outcome, 'cancelled');
  assert.equal((await store.session(session!.id))?.status, 'idle');
  await agent.sleep();
});

test('a process that ends between the two leaves the second to the next', async () => {
  const { agent, store, begun, end } = await stoppedLate();
  const first = agent.ask({ to: web, content: 'What is new?' });
  await begun;
  const [session] = await store.sessions({ limit: 1, offset: 0 });
  await agent.cancel(session!.id, 'owner');
  // Said to another process.
  const said = await store.deliver({ to: web, events: [{ type: 'user', content: 'Rather the weather' }] });
  const halted = agent.sleep();
  end();
  await Promise.allSettled([first, halted]);
  const { agent: next } = await testAgent({ store, script: (request) => `You said: ${lastText(request)}` });
  await next.resume();
  const answered = async () => answerTo(await store.events(session!.id, { after: 0, limit: 100 }), said!.seq);
  let answer = await answered();
  for (; answer === undefined; answer = await answered()) await delay(10);
  assert.deepEqual([answer.outcome, answer.reply], ['done', 'You said: Rather the weather']);
  await next.sleep();
});

test('inputs before the stop end with it, and work that ends in the background begins nothing', () => {
  const log = (...bodies: object[]) =>
    bodies.map((body, index) => ({ ...body, seq: index + 1, at: '2030-01-01T00:00:00Z' }) as SessionEvent);
  const spent = { turns: 0, tokens: 0, costMicros: 0, ms: 0 };
  const stopped = log(
    { type: 'user', content: 'a' },
    { type: 'user', content: 'b' },
    { type: 'cancel_requested', by: 'me' },
    { type: 'user', content: 'c', background: { id: 't', member: 'm', status: 'done', spent } },
  );
  assert.equal(readSession(stopped).next, undefined);
  const said = [...stopped, ...log({}, {}, {}, {}, { type: 'user', content: 'd' }).slice(4)];
  assert.equal(readSession(said).next?.seq, 5);
  const end = {
    type: 'run_ended',
    outcome: 'cancelled',
    spent,
    leaves: 5,
    seq: 6,
    at: '2030-01-01T00:00:00Z',
  } as const;
  assert.equal(readSession([...said, end]).run?.seq, 5);
  assert.deepEqual(
    [1, 2, 5].map((seq) => answerTo([...said, end], seq)?.outcome),
    ['cancelled', 'cancelled', undefined],
  );
});
