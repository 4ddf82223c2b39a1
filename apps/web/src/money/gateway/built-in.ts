import { backend as onBackend, type Client } from '@troupe/contract';
import type { Catalogue } from '@troupe/domain';
import { AppError, type User } from '@troupe/kernel';
import type { BuiltIn } from './plugins.ts';

/**
 * Plugins that the platform serves itself. `agent` is the payer's own main agent, with its memory and its tools; a payer
 * who has none, or no account, gets one call of a model under an agent's instruction. What such a call can cost stays
 * far below its price.
 */

/** The main agent's answer; null: the user has no agent. */
export type AskAgent = (
  user: User,
  message: string,
  address: string,
  signal: AbortSignal,
) => Promise<{ agentId: string; reply: string } | null>;

const MAX_CHARACTERS = 8_000;
const AGENT =
  'You are an agent that is paid for one task. Think it through, then give the finished result, not a plan.';

/** 400 before anybody has paid. */
function promptOf(input: Record<string, unknown>): string {
  const given = input['prompt'] ?? input['message'];
  if (typeof given !== 'string' || given.trim() === '') throw new AppError(400, 'prompt required');
  if (given.length > MAX_CHARACTERS) throw new AppError(400, `prompt too long (max ${MAX_CHARACTERS} characters)`);
  return given;
}

export function createBuiltIn(backend: Client, catalogue: Catalogue, askAgent: AskAgent): Record<string, BuiltIn> {
  const textPlugin = (id: string, maxTokens: number, instruction?: string): BuiltIn => ({
    check: (input) => void promptOf(input),
    async run(input, signal) {
      const prompt = { role: 'user' as const, content: promptOf(input) };
      const { model, choices, usage } = await backend.call(onBackend.v1.completeChat, {
        signal,
        headers: { 'x-user-id': 'gateway', 'x-agent-id': `plugin-${id}` },
        body: {
          model: catalogue.demo[0],
          max_tokens: maxTokens,
          messages: instruction ? [{ role: 'system' as const, content: instruction }, prompt] : [prompt],
        },
      });
      return { text: choices[0]?.message.content ?? '', model, usage };
    },
  });
  const oneCall = textPlugin('agent', 4_096, AGENT);
  const agent: BuiltIn = {
    ...oneCall,
    async run(input, signal, payer) {
      const { user, address } = payer;
      const answered = user && (await askAgent(user, promptOf(input), address, signal));
      return answered ? { text: answered.reply, agentId: answered.agentId } : oneCall.run(input, signal, payer);
    },
  };
  return { agent, 'generate-text': textPlugin('generate-text', 1_024) };
}
