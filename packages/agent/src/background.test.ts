import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Agent } from './agent.ts';
import type { SessionEvent } from './session/events.ts';
import type { BackgroundTask } from './store/background.ts';
import { startTeam } from './team-testing.ts';
import { lastText, TOKENS_A_CALL, web, type Script } from './testing.ts';

const YAML = `
agents:
  lead:
    model: openai/big
    instruction: You lead.
    sub_agents: [worker, other]
    toolsets: [{ type: background_agents }]
  worker: { model: openai/small, instruction: You work., sub_agents: [other], toolsets: [{ type: background_agents }, { type: think }] }
  other: { model: openai/small, instruction: You are the other. }
`;

type Request = Parameters<Script>[0];
const system = ({ messages }: Request): string => String(messages[0]?.content);
const isLead = (request: Request): boolean => system(request).startsWith('You lead.');
const run = (agent: string, task: string) => ({ tool: 'run_background_agent', args: { agent, task } });
const isResult = (text: string): boolean => text.startsWith('[The background task');

/** A promise that a test keeps. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

async function untilEvent(
  agent: Agent,
  sessionId: string,
  is: (event: SessionEvent) => boolean,
): Promise<SessionEvent> {
  for await (const live of agent.follow(sessionId, 0, AbortSignal.timeout(60_000)))
    if (live.kind === 'event' && is(live.event)) return live.event;
  throw new Error('it did not happen');
}

const allEvents = (agent: Agent, sessionId: string) => agent.store.events(sessionId, { after: 0, limit: 1000 });

async function untilTask(agent: Agent, is: (task: BackgroundTask) => boolean): Promise<BackgroundTask> {
  for (;;) {
    const found = (await agent.store.tasks({ limit: 100 })).find(is);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function untilSettled(agent: Agent): Promise<void> {
  while (agent.busyInBackground() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Leads that hand the message's words to the worker and say what they hear. */
const leadScript = (request: Request) => {
  const last = lastText(request);
  if (request.messages.at(-1)?.role === 'tool') return `going on: ${last}`;
  if (isResult(last)) return `heard: ${last}`;
  return last.startsWith('do ') ? { calls: [run('worker', last.slice(3))] } : `plain: ${last}`;
};

describe('work in the background', () => {
  test('the lead goes on meanwhile, is told once, and pays for it', async () => {
    const held = gate();
    const { agent, close } = await startTeam(YAML, async (request) => {
      if (isLead(request)) return leadScript(request);
      await held.opened;
      return `worker did ${lastText(request)}`;
    });
    const lead = agent('lead');
    const begun = await lead.ask({ to: web, content: 'do it' });
    assert.match(begun.reply, /^going on: worker works on it/);
    // The same conversation, while the member works.
    assert.equal((await lead.ask({ to: web, content: 'hello' })).reply, 'plain: hello');
    held.open();
    const heard = await untilEvent(
      lead,
      begun.sessionId,
      (event) => event.type === 'assistant' && event.content.startsWith('heard'),
    );
    assert.match((heard as { content: string }).content, /has ended: done\]\nworker did it$/);
    await untilSettled(lead);
    const events = await allEvents(lead, begun.sessionId);
    const told = events.filter((event) => event.type === 'user' && event.background);
    assert.equal(told.length, 1);
    assert.deepEqual(await lead.store.takeTasks({ owner: 'x', ttlMs: 1 }, 10), [], 'nothing is left to be done');
    const end = events.findLast((event) => event.type === 'run_ended');
    assert.equal(end?.type === 'run_ended' && end.spent.tokens, 2 * TOKENS_A_CALL, 'its own words and the member’s');
    const [task] = await lead.store.tasks({ limit: 10 });
    assert.equal(task?.status, 'done');
    const [session] = await agent('worker').store.sessions({ limit: 5, offset: 0 });
    assert.equal(session?.id, task?.memberSession);
    assert.equal(session?.channel, 'background');
    await close();
  });

  test('what comes while the lead is in the middle of a turn is heard after it, once', async () => {
    const inTurn = gate();
    const held = gate();
    const { agent, close } = await startTeam(YAML, async (request) => {
      if (!isLead(request)) return 'quick';
      if (lastText(request) === 'think long') {
        inTurn.open();
        await held.opened;
        return 'thought';
      }
      return leadScript(request);
    });
    const lead = agent('lead');
    const { sessionId } = await lead.ask({ to: web, content: 'do it' });
    const thinking = lead.ask({ to: web, content: 'think long' });
    await Promise.race([inTurn.opened, thinking]);
    await untilTask(lead, ({ status }) => status === 'done');
    held.open();
    assert.equal((await thinking).outcome, 'done');
    await untilEvent(lead, sessionId, (event) => event.type === 'assistant' && event.content.startsWith('heard'));
    const events = await allEvents(lead, sessionId);
    assert.equal(events.filter((event) => event.type === 'user' && event.background).length, 1);
    assert.equal(events.filter((event) => event.type === 'assistant' && event.content.startsWith('heard')).length, 1);
    await close();
  });

  test('list, view and stop, twice; other conversations and hostile names find nothing', async () => {
    const replies: string[] = [];
    const { agent, close } = await startTeam(YAML, async (request, _turn, signal) => {
      if (!isLead(request))
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
      const last = request.messages.at(-1);
      if (last?.role === 'tool') {
        replies.push(String(last.content));
        return 'ok';
      }
      return { calls: [JSON.parse(lastText(request)) as { tool: string; args: unknown }] };
    });
    const lead = agent('lead');
    const say = async (tool: string, args: object, to = web) => {
      await lead.ask({ to, content: JSON.stringify({ tool, args }) });
      return replies.at(-1) ?? '';
    };
    for (const name of ['nobody', '__proto__', 'constructor', '', '../lead', 'lead', "' or 1=1 --", 'worker\0', '💥'])
      assert.match(await say('run_background_agent', { agent: name, task: 'x' }), /^There is no member/, name);
    assert.match(await say('run_background_agent', { agent: 'worker', task: ' ' }), /^Invalid arguments/);
    const [, id = ''] =
      /Task: (\S+)\. /.exec(await say('run_background_agent', { agent: 'worker', task: 'never end' })) ?? [];
    assert.match(await say('list_background_agents', {}), new RegExp(`^- ${id} \\(worker\\): running`));
    assert.match(await say('view_background_agent', { task_id: id }), /It goes on/);
    const elsewhere = { channel: 'web', key: 'another' };
    assert.equal(await say('list_background_agents', {}, elsewhere), 'There are none.');
    for (const tool of ['view_background_agent', 'stop_background_agent'])
      for (const [task, to] of [
        [id, elsewhere],
        ['%', web],
        ['no-such', web],
      ] as const)
        assert.match(await say(tool, { task_id: task }, to), /There is no such task/);
    await untilTask(lead, ({ memberSession }) => memberSession !== null);
    assert.equal(await say('stop_background_agent', { task_id: id }), `${id} is stopped.`);
    assert.equal(await say('stop_background_agent', { task_id: id }), `${id} has ended before: stopped.`);
    const { memberSession } = await lead.task(id);
    const end = await untilEvent(agent('worker'), memberSession ?? '', ({ type }) => type === 'run_ended');
    assert.equal(end.type === 'run_ended' && end.outcome, 'cancelled');
    await untilSettled(lead);
    const [session] = await lead.store.sessions({ limit: 1, offset: 0, key: web.key });
    const told = (await allEvents(lead, session?.id ?? '')).filter(
      (event) => event.type === 'user' && event.background,
    );
    assert.deepEqual(told, [], 'who stopped it himself is not told');
    await close();
  });

  test('the owner stops one: the lead is told. A cancelled conversation takes its tasks with it, and hears nothing', async () => {
    const { agent, close } = await startTeam(YAML, async (request, _turn, signal) => {
      if (isLead(request)) return leadScript(request);
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    const lead = agent('lead');
    const { sessionId } = await lead.ask({ to: web, content: 'do one' });
    const [one] = await lead.store.tasks({ limit: 1 });
    assert.equal(await lead.stopTask(one?.id ?? '', 'owner'), true);
    assert.equal(await lead.stopTask(one?.id ?? '', 'owner'), false);
    await assert.rejects(lead.stopTask('another', 'owner'), { status: 404 });
    await untilEvent(
      lead,
      sessionId,
      (event) => event.type === 'assistant' && /has ended: stopped\]\nIt was stopped by the owner/.test(event.content),
    );
    await lead.ask({ to: web, content: 'do two' });
    assert.equal(await lead.cancel(sessionId, 'owner'), true, 'the conversation rests, its task does not');
    await untilSettled(lead);
    const tasks = await lead.store.tasks({ limit: 10 });
    assert.deepEqual(
      tasks.map(({ status }) => status),
      ['stopped', 'stopped'],
    );
    const events = await allEvents(lead, sessionId);
    assert.equal(events.filter((event) => event.type === 'user' && event.background).length, 1);
    assert.equal(await lead.cancel(sessionId, 'owner'), false);
    await close();
  });

  test('a member that never ends is ended by what the lead had left', async () => {
    let turns = 0;
    const { agent, close } = await startTeam(YAML, (request) => {
      if (isLead(request)) return leadScript(request);
      turns += 1;
      return { calls: [{ tool: 'think', args: { thought: String(turns) } }] };
    });
    const lead = agent('lead');
    const limits = { maxTurns: 6, maxTokens: 1e6, maxCostMicros: 1e9, maxSeconds: 60 };
    const { sessionId } = await lead.ask({ to: web, content: 'do it', limits });
    await untilEvent(
      lead,
      sessionId,
      (event) => event.type === 'assistant' && event.content.includes('limit of 5 turns'),
    );
    assert.equal(turns, 5);
    await close();
  });

  test('work that begins other work for ever comes to an end', async () => {
    const { agent, close } = await startTeam(YAML, (request) => {
      if (!isLead(request)) return 'done';
      return request.messages.at(-1)?.role === 'tool' ? 'next' : { calls: [run('worker', 'again')] };
    });
    const lead = agent('lead');
    const limits = { maxTurns: 8, maxTokens: 1e6, maxCostMicros: 1e9, maxSeconds: 60 };
    const { sessionId } = await lead.ask({ to: web, content: 'go', limits });
    await untilEvent(lead, sessionId, (event) => event.type === 'run_ended' && event.outcome === 'limit');
    await untilSettled(lead);
    assert.ok((await lead.store.tasks({ limit: 100 })).length <= 8);
    await close();
  });

  test('it is three deep at most', async () => {
    const said: string[] = [];
    const { agent, close } = await startTeam(
      YAML.replace(
        'sub_agents: [other], toolsets: [{ type: background_agents }, { type: think }]',
        'sub_agents: [lead], toolsets: [{ type: background_agents }]',
      ),
      (request) => {
        const last = request.messages.at(-1);
        if (last?.role === 'tool') said.push(String(last.content));
        if (last?.role === 'tool' || isResult(lastText(request))) return 'done';
        return { calls: [run(isLead(request) ? 'worker' : 'lead', 'deeper')] };
      },
    );
    await agent('lead').ask({ to: web, content: 'go' });
    while (!said.some((text) => text.includes('3 deep'))) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const name of ['lead', 'worker', 'lead', 'worker']) await untilSettled(agent(name));
    assert.equal(said.filter((text) => text.includes('works on it')).length, 3);
    assert.equal(said.filter((text) => text.includes('3 deep')).length, 1);
    await close();
  });

  test('a hundred at once, no more, and the lead still answers', { timeout: 120_000 }, async () => {
    const held = gate();
    const refusals: string[] = [];
    const { agent, close } = await startTeam(YAML, async (request) => {
      if (!isLead(request)) {
        await held.opened;
        return 'done';
      }
      const last = lastText(request);
      if (last === 'all') return { calls: Array.from({ length: 51 }, (_, n) => run('worker', `part ${n}`)) };
      if (request.messages.at(-1)?.role === 'tool') {
        const told = request.messages.map(({ content }) => String(content));
        refusals.push(...told.filter((text) => text.includes('the most at once')));
        return 'all given';
      }
      return isResult(last) ? 'heard' : `plain: ${last}`;
    });
    const lead = agent('lead');
    await lead.ask({ to: web, content: 'all' });
    const { sessionId } = await lead.ask({ to: web, content: 'all' });
    assert.equal(new Set(refusals).size, 1);
    assert.equal(lead.busyInBackground(), 100);
    assert.equal((await lead.ask({ to: web, content: 'hello' })).reply, 'plain: hello');
    assert.equal((await lead.ask({ to: { channel: 'web', key: 'else' }, content: 'hi' })).reply, 'plain: hi');
    held.open();
    await untilSettled(lead);
    const told = (await allEvents(lead, sessionId)).flatMap((event) =>
      event.type === 'user' && event.background ? [event.background.id] : [],
    );
    assert.equal(told.length, 100);
    assert.equal(new Set(told).size, 100);
    await close();
  });
});
