import { backend as onBackend, CallError, type Client } from '@troupe/contract';
import { AppError } from '@troupe/kernel';
import { asAppError } from '../platform/reach.ts';

const ANSWER_MS = 60_000;
const ANSWER_TOKENS = 2000;

/** What a provider says no with stands one deeper in OpenAI's shape. */
function refusal(error: unknown): AppError {
  if (!(error instanceof CallError)) return asAppError(error);
  const { error: told } = error.body as { error?: unknown };
  const message = typeof told === 'object' && told !== null && 'message' in told ? told.message : told;
  return typeof message === 'string'
    ? new AppError(error.status, message, {}, { cause: error, headers: error.headers })
    : asAppError(error);
}

/** Has a model do what the system's words say with those of somebody else; on the account of who asks. */
export async function askModel(
  as: Client,
  { model, how, data }: { model: string; how: string; data: string },
  signal: AbortSignal,
): Promise<string> {
  const messages = [
    { role: 'system' as const, content: how },
    { role: 'user' as const, content: data },
  ];
  const body = { model, temperature: 0, max_tokens: ANSWER_TOKENS, messages };
  const reply = await as
    .call(onBackend.v1.completeChat, { body, timeout: ANSWER_MS, signal })
    .catch((error: unknown) => {
      throw refusal(error);
    });
  return reply.choices[0]?.message.content ?? '';
}

/** The JSON object in a model's words; some put it into a fence or a sentence. Undefined: there is none. */
export function objectIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    // No object, or a broken one: the caller says so.
    return undefined;
  }
}
