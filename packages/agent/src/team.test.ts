import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findTemplate, teamFromTemplate } from '@troupe/domain';
import { teamYaml } from '@troupe/domain/team-yaml';
import { startTeam } from './team-testing.ts';
import { TOKENS_A_CALL, lastText, type Script } from './testing.ts';

const template = findTemplate('dev_team');
assert.ok(template);
const yaml = teamYaml(teamFromTemplate(template));
const web = { channel: 'web', key: 'k' };
const isLead = (request: Parameters<Script>[0]) => request.tools?.some((one) => one.function.name === 'transfer_task');

describe('a team', () => {
  test('runs from its YAML: the lead hands work over, all share memory and todos', async () => {
    const { agent, model, close } = await startTeam(yaml, (request) => {
      const last = request.messages.at(-1);
      if (isLead(request)) {
        if (last?.role !== 'tool') {
          return {
            calls: [
              { tool: 'add_memory', args: { memory: 'The release is called Nightingale' } },
              {
                tool: 'transfer_task',
                args: { agent: 'engineer', task: 'write hello.txt', expected_output: 'a file' },
              },
              { tool: 'transfer_task', args: { agent: 'nobody', task: 'x' } },
            ],
          };
        }
        return `lead heard: ${request.messages
          .slice(-3)
          .map(({ content }) => String(content))
          .join(' | ')}`;
      }
      if (last?.role !== 'tool') return { calls: [{ tool: 'write_file', args: { path: 'hello.txt', content: 'hi' } }] };
      return `engineer: ${String(last.content)}`;
    });
    const answer = await agent('pm').ask({ to: web, content: 'ship it' });
    assert.match(answer.reply, /engineer: Wrote 2 bytes to hello.txt/);
    assert.match(answer.reply, /There is no member nobody. Members: engineer, qa/);
    assert.equal(answer.spent.tokens, 4 * TOKENS_A_CALL, 'the lead pays for what the member used');
    const system = String(model.requests.find((request) => !isLead(request))?.messages[0]?.content);
    assert.match(system, /You are the Engineer of the Dev Team/);
    const shared = await agent('qa').store.recall({ scope: 'team', query: 'nightingale', limit: 5 });
    assert.equal(shared.length, 1);
    await close();
  });

  test('a member’s work is bounded by what the lead has left', async () => {
    let memberTurns = 0;
    const { agent, close } = await startTeam(yaml, (request) => {
      if (isLead(request))
        return request.messages.at(-1)?.role === 'tool'
          ? 'enough'
          : { calls: [{ tool: 'transfer_task', args: { agent: 'qa', task: 'never end' } }] };
      memberTurns++;
      return { calls: [{ tool: 'think', args: { thought: String(memberTurns) } }] };
    });
    const answer = await agent('pm').ask({
      to: web,
      content: 'go',
      limits: { maxTurns: 6, maxTokens: 1e6, maxCostMicros: 1e9, maxSeconds: 60 },
    });
    assert.equal(memberTurns, 5);
    assert.equal(answer.outcome, 'limit');
    await close();
  });

  test('a cancelled lead takes its member’s work with it', async () => {
    let started: () => void = () => {};
    const working = new Promise<void>((resolve) => {
      started = resolve;
    });
    const { agent, close } = await startTeam(yaml, (request, _turn, signal) => {
      if (isLead(request)) return { calls: [{ tool: 'transfer_task', args: { agent: 'qa', task: 'wait' } }] };
      started();
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    const answer = agent('pm').ask({ to: web, content: 'go' });
    await working;
    const [session] = await agent('pm').store.sessions({ limit: 1, offset: 0 });
    await agent('pm').cancel(session?.id ?? '', 'owner');
    assert.equal((await answer).outcome, 'cancelled');
    const [member] = await agent('qa').store.sessions({ limit: 1, offset: 0 });
    for await (const live of agent('qa').follow(member?.id ?? '', 0, AbortSignal.timeout(5000))) {
      if (live.kind === 'event' && live.event.type === 'run_ended') {
        assert.equal(live.event.outcome, 'cancelled');
        break;
      }
    }
    assert.equal(lastText({ messages: [] }), '');
    await close();
  });
});
