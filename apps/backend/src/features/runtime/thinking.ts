import type { ChatRequest } from '@troupe/ai';
import { planAllows } from '@troupe/domain';
import type { Thinking } from '@troupe/fleet';
import type { AiService } from '../ai/service.ts';

/**
 * An agent thinks on its owner's account and within its plan. Where the plan does not have the agent's model, the plan's
 * own choice serves: an agent that was made with the default model works on every plan.
 */
export function createThinking({ forAgent, catalogue }: Pick<AiService, 'forAgent' | 'catalogue'>) {
  return (agent: { agentId: string; userId: string; plan: string }): Thinking => {
    const ports = forAgent(agent);
    const within = (request: ChatRequest): ChatRequest => {
      const { model, ...rest } = request;
      return model === undefined || planAllows(catalogue, agent.plan, model) ? request : rest;
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
