import type { ChatRequest } from '@troupe/ai';
import { planAllows } from '@troupe/domain';
import type { Thinker, Thinking } from '@troupe/fleet';
import type { AllAgents } from '@troupe/roster';
import type { AiService } from '../ai/service.ts';

/**
 * An agent thinks on its owner's account and within its plan. Where the plan does not have the agent's model, or no
 * provider is there for it, the plan's own choice serves: an agent that was made with the default model works on every plan
 * and with every provider. An agent that has its owner's own
 * key thinks on that account instead; the key is opened for each call and never handed on.
 */
export function createThinking(
  { ai, forAgent, catalogue }: Pick<AiService, 'ai' | 'forAgent' | 'catalogue'>,
  { ownKey }: Pick<AllAgents, 'ownKey'>,
) {
  return (agent: Thinker): Thinking => {
    const { id: agentId, user_id: userId, plan } = agent;
    const hasOwn = agent.provider_key !== null;
    const ports = forAgent({ agentId, userId, plan }, hasOwn ? () => ownKey(agent) : undefined);
    const within = (request: ChatRequest): ChatRequest => {
      const { model, ...rest } = request;
      if (hasOwn || model === undefined) return request;
      return planAllows(catalogue, plan, model) && ai.serves(model) ? request : rest;
    };
    return {
      ...ports,
      model: {
        chat: (request, options) => ports.model.chat(within(request), options),
        stream: (request, options) => ports.model.stream(within(request), options),
      },
    };
  };
}
