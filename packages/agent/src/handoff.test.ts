import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readTeamYaml } from '@troupe/domain/team-yaml';
import { startTeam } from './team-testing.ts';
import { lastText, testAgent, web, type Script } from './testing.ts';

type Request = Parameters<Script>[0];
const who = ({ messages }: Request): string => /^You are (\w+)\./.exec(String(messages[0]?.content))?.[1] ?? '';
const toolsOf = ({ tools = [] }: Request): string[] => tools.map((one) => one.function.name);

const YAML = `
agents:
  front: { model: openai/a, instruction: You are front., handoffs: [sales, help] }
  sales: { model: openai/b, instruction: You are sales., handoffs: [front], toolsets: [{ type: think }] }
  help: { model: openai/c, instruction: You are help. }
`;

describe('a conversation that is handed over', () => {
  test('is answered by the other from then on, with its own model and tools, and back again', async () => {
    const { agent, model, close } = await startTeam(YAML, (request) => {
      const said = request.messages.findLast(
        ({ role, content }) => role === 'user' && !String(content).startsWith('['),
      );
      const hasHandoff = request.messages.at(-1)?.role !== 'user' || lastText(request).startsWith('[');
      const to = /^to (\S+)$/.exec(String(said?.content))?.[1];
      if (to && !hasHandoff) return { calls: [{ tool: 'handoff', args: { agent: to } }] };
      return `${who(request)} heard ${String(said?.content)}`;
    });
    const front = agent('front');
    assert.equal((await front.ask({ to: web, content: 'hello' })).reply, 'front heard hello');
    assert.equal((await front.ask({ to: web, content: 'to sales' })).reply, 'sales heard to sales');
    const { reply, sessionId } = await front.ask({ to: web, content: 'a price?' });
    assert.equal(reply, 'sales heard a price?');
    const asked = model.requests.at(-1)!;
    assert.equal(asked.model, 'openai/b');
    assert.deepEqual(toolsOf(asked).toSorted(), ['handoff', 'think']);
    assert.ok(
      asked.messages.some(({ content }) => content === 'front heard hello'),
      'it sees all of it',
    );
    // Another conversation is not concerned.
    assert.equal((await front.ask({ to: { channel: 'web', key: 'two' }, content: 'hi' })).reply, 'front heard hi');
    assert.equal((await front.ask({ to: web, content: 'to front' })).reply, 'front heard to front');
    assert.equal((await front.ask({ to: web, content: 'thanks' })).reply, 'front heard thanks');
    const events = await front.store.events(sessionId, { after: 0, limit: 100 });
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'handoff' ? [[event.by, event.to.name]] : [])),
      [
        ['front', 'sales'],
        ['sales', 'front'],
      ],
    );
    await close();
  });

  test('only to whom the document names, and not to whoever is called like something else', async () => {
    const told: string[] = [];
    const { agent, close } = await startTeam(YAML, (request) => {
      const last = request.messages.at(-1);
      if (last?.role === 'tool') {
        told.push(String(last.content));
        return `${who(request)} stays`;
      }
      return { calls: [{ tool: 'handoff', args: { agent: lastText(request) } }] };
    });
    for (const name of ['front', 'nobody', '__proto__', 'SALES', '../help'])
      assert.equal((await agent('front').ask({ to: web, content: name })).reply, 'front stays');
    assert.ok(told.every((text) => text.startsWith('There is no agent')));
    assert.equal(told.length, 5);
    await close();
  });

  test('stays handed over when older parts are summed up, and falls back when the other is gone', async () => {
    let isThere = true;
    const other = await testAgent({ agentId: 'other', definition: { name: 'other' }, script: () => 'other says' });
    const { agent } = await testAgent({
      compactAt: 60,
      peers: async () => (isThere ? other.agent : undefined),
      script: (request) => (lastText(request).startsWith('User:') ? 'summed up' : 'own says'),
    });
    const { sessionId } = await agent.ask({ to: web, content: 'one' });
    await agent.store.deliver({
      to: { id: sessionId },
      events: [{ type: 'handoff', to: { agentId: 'other', name: 'other' }, by: 'Ada' }],
    });
    const long = 'many words '.repeat(30);
    for (let n = 0; n < 4; n += 1) assert.equal((await agent.ask({ to: web, content: long })).reply, 'other says');
    const events = await agent.store.events(sessionId, { after: 0, limit: 100 });
    const summed = events.findLast((event) => event.type === 'compaction');
    assert.deepEqual(summed?.type === 'compaction' && summed.acting, { agentId: 'other', name: 'other' });
    isThere = false;
    assert.equal((await agent.ask({ to: web, content: 'still there?' })).reply, 'own says');
  });
});

describe('force_handoff', () => {
  const FORCED = `
agents:
  writer: { model: openai/a, instruction: You are writer., force_handoff: editor }
  editor: { model: openai/b, instruction: You are editor. }
`;
  test('the answer is the last one’s, who has the conversation from then on', async () => {
    const { agent, close } = await startTeam(FORCED, (request) => `${who(request)} after: ${lastText(request)}`);
    const first = await agent('writer').ask({ to: web, content: 'a poem' });
    assert.match(first.reply, /^editor after: \[writer has handed this conversation over to editor/);
    assert.equal((await agent('writer').ask({ to: web, content: 'more' })).reply, 'editor after: more');
    await close();
  });

  test('a circle, oneself and strangers are refused', () => {
    for (const [yaml, error] of [
      ['agents: { a: { force_handoff: b }, b: { force_handoff: a } }', /in a circle/],
      ['agents: { a: { force_handoff: a } }', /agents.a.force_handoff: a is not another agent/],
      ['agents: { a: { handoffs: [x] } }', /agents.a.handoffs: x is not another agent/],
    ] as const) {
      const reading = readTeamYaml(yaml);
      assert.ok(!reading.ok);
      assert.match(reading.error, error);
    }
  });
});
