import assert from 'node:assert/strict';
import { createStandIn, replyChat, type StandIn, type StandInRequest } from '@troupe/ai/stand-in';
import { messagesOf } from './asked.ts';
import { elsewhere, send, type Reply } from './people.ts';
import { addUser, startServices, type Services, type TestUser } from './services.ts';

export interface Obedient {
  services: Services;
  model: StandIn;
  ada: TestUser;
  bob: TestUser;
  /** Ada's. */
  agentId: string;
  /** As Ada, or as who is named. */
  ask: (method: string, path: string, body?: unknown, who?: TestUser) => Promise<Reply>;
  /** To Ada's agent; answers what it says. */
  say: (message: string) => Promise<string>;
  stop: () => Promise<void>;
}

/**
 * Two people, and an agent whose model calls what a message says, as `call NAME {…}`, and repeats what it got. `instead`
 * may answer a request in another way.
 */
export async function startObedient(
  topic: string,
  instead: (request: StandInRequest) => string | undefined = () => undefined,
): Promise<Obedient> {
  const model = await createStandIn((request, response) => {
    const other = instead(request);
    if (other !== undefined) return replyChat(request, response, { content: other });
    const last = messagesOf(request).at(-1);
    const [, name, args] = /^call (\w+) (.*)$/s.exec(last?.role === 'user' ? String(last.content) : '') ?? [];
    if (name === undefined) return replyChat(request, response, { content: `I read: ${last?.content}` });
    replyChat(request, response, { content: '', toolCalls: [{ id: 'c1', name, arguments: args ?? '{}' }] });
  });
  const services = await startServices({
    OPENROUTER_API_KEY: 'sk-test',
    OPENROUTER_BASE_URL: model.url,
    TRUST_PROXY: '1',
  });
  const ada = await addUser(services.runtime, { plan: 'solo' });
  const bob = await addUser(services.runtime, { plan: 'solo' });
  const ask: Obedient['ask'] = (method, path, body, who = ada) =>
    send(services.web + path, method, body, { authorization: `Bearer ${who.key}`, 'x-client-ip': elsewhere() });
  const made = await ask('POST', '/api/agents/provision', { name: 'Ada', model: 'openai/gpt-4o-mini' });
  const agentId = String(made.body.agent.id);
  return {
    services,
    model,
    ada,
    bob,
    agentId,
    ask,
    async say(message) {
      const { status, body } = await ask('POST', '/api/chat', { message, agentId, topic });
      assert.equal(status, 200, JSON.stringify(body));
      return body.reply ?? body.response ?? JSON.stringify(body);
    },
    async stop() {
      await services.stop();
      await model.close();
    },
  };
}
