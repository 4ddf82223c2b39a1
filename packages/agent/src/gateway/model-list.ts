import { messagesRequest } from '@troupe/ai';
import { backend, validationMessage, type TypesOf } from '@troupe/contract';
import { AppError } from '@troupe/kernel';
import { z } from 'zod';
import { estimateTokens } from '../loop/prompt.ts';
import { readLargeJson, sendJson, type Exchange } from './exchange.ts';

/** What clients of models ask beside an answer: which there are, and how much there is to read. */

/** When a model was made is not known here. */
const UNKNOWN_TIME = '1970-01-01T00:00:00Z';

/** An agent is one model, which clients of OpenAI and of Anthropic each find their own fields of. */
async function described({ agent }: Exchange) {
  const { definition } = await agent.definition();
  return {
    id: definition.config.model.default,
    object: 'model',
    created: 0,
    owned_by: 'agent',
    type: 'model',
    display_name: definition.name,
    created_at: UNKNOWN_TIME,
  };
}

export async function listModels(exchange: Exchange): Promise<void> {
  const model = await described(exchange);
  sendJson(exchange, { object: 'list', data: [model], has_more: false, first_id: model.id, last_id: model.id });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Its slash may be written as it is. */
export async function getModel(exchange: Exchange): Promise<void> {
  const asked = exchange.params.map(decoded).join('/');
  const model = await described(exchange);
  if (model.id !== asked) throw new AppError(404, `Model ${asked} not found`, { code: 'model_not_found' });
  sendJson(exchange, model);
}

const ANYTHING = z.looseObject({});

/** An estimate of what is given and of the agent's own words; what it looks up by itself nobody knows before. */
export async function countTokens(exchange: Exchange): Promise<void> {
  const parsed = backend.v1.countTokens.body!.safeParse(await readLargeJson(exchange, ANYTHING));
  if (!parsed.success) throw new AppError(400, validationMessage(parsed.error, 'body'));
  const { messages, tools = [] } = messagesRequest(parsed.data as TypesOf<typeof backend.v1.countTokens>['body']);
  const { definition } = await exchange.agent.definition();
  const told = [{ role: 'system' as const, content: definition.instruction }, ...messages];
  const offered = tools.reduce((sum, tool) => sum + Math.ceil(JSON.stringify(tool.function).length / 4), 0);
  sendJson(exchange, { input_tokens: estimateTokens(told) + offered });
}

export async function refuseEmbeddings(): Promise<void> {
  throw new AppError(400, 'An agent makes no embeddings: ask the platform for them, at its own /v1/embeddings');
}
