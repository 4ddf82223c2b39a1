import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { createAi, createStandIn, providersFrom, type StandIn } from '@troupe/ai';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { readSettings, silentLog } from '@troupe/kernel';
import type { LiveEvent } from '../agent.ts';
import type { SessionEvent } from '../session/events.ts';
import { testAgent, web } from '../testing.ts';

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
