import { CallError, backend as onBackend, DEMO_LENGTH, web, type Client, type TypesOf } from '@troupe/contract';
import { findModel, type Catalogue } from '@troupe/domain';
import { AppError, type Counters } from '@troupe/kernel';

type Asked = TypesOf<typeof web.demo.chat>['body'];

const MAX_TOKENS = 1024;
/** A public endpoint that costs money: older messages of a conversation are left out. */
const MAX_MESSAGES = 20;
const TIMEOUT_MS = 90_000;
/** Of everybody together: whoever runs the platform pays, and nobody has to have an account. */
const TOGETHER = [
  { name: 'hour', most: 300, ms: 3_600_000 },
  { name: 'day', most: 2000, ms: 86_400_000 },
];

export type Demo = ReturnType<typeof createDemo>;

export function createDemo(backend: Client, catalogue: Catalogue, counters: Counters) {
  /** An address is counted before; there are more of these than anybody can pay for. */
  async function count(): Promise<void> {
    for (const { name, most, ms } of TOGETHER) {
      const { count: came, resetsInMs } = await counters.hit(`demo:${name}`, ms);
      if (came <= most) continue;
      const headers = { 'retry-after': String(Math.ceil(resetsInMs / 1000)) };
      throw new AppError(429, 'Too many requests', {}, { headers });
    }
  }

  async function complete({ message, model, conversation = [] }: Asked, signal: AbortSignal) {
    const earlier = conversation.flatMap(userText).slice(-MAX_MESSAGES);
    const messages = [...earlier, cut(message)].map((content) => ({ role: 'user' as const, content }));
    const ask = (served: string | undefined) =>
      backend.call(onBackend.v1.completeChat, {
        signal,
        timeout: TIMEOUT_MS,
        headers: { 'x-user-id': 'demo', 'x-agent-id': 'demo-chat' },
        body: { model: served, max_tokens: MAX_TOKENS, messages },
      });
    const { demo } = catalogue;
    const wished = model !== undefined && demo.includes(model) ? model : demo[0];
    let answer = ask(wished);
    // Not every installation has a provider for it: then the first demo model that is there serves.
    for (const other of demo.filter((id) => id !== wished)) {
      answer = answer.catch((error: unknown) => {
        if (!isUnserved(error)) throw error;
        return ask(other);
      });
    }
    return answer;
  }

  return {
    describe: (): TypesOf<typeof web.demo.get>['reply'] => ({
      models: catalogue.demo.map((id) => ({
        id,
        name: findModel(catalogue, id)?.name ?? id,
        provider: id.split('/', 1)[0] ?? id,
      })),
      mode: 'demo',
      message: `Try a model without an account: one answer at a time, up to ${MAX_TOKENS} tokens.`,
    }),
    async chat(asked: Asked, signal: AbortSignal): Promise<TypesOf<typeof web.demo.chat>['reply']> {
      await count();
      try {
        const { id, model, choices, usage } = await complete(asked, signal);
        return { id, model, message: choices[0]?.message.content ?? '', usage, done: true };
      } catch (error) {
        if (isUnserved(error)) {
          throw new AppError(503, 'Demo unavailable — service not configured.', {}, { cause: error });
        }
        throw new AppError(500, 'Failed to get response', {}, { cause: error });
      }
    },
  };
}

const isUnserved = (error: unknown): boolean => error instanceof CallError && error.body['code'] === 'NO_MODELS';

/** Never in the middle of a character: providers refuse halves. */
const cut = (text: string): string => text.slice(0, DEMO_LENGTH).replace(/[\uD800-\uDBFF]$/, '');

/** Answers in a conversation come from the caller: believing them would let anybody put words into the model's mouth. */
function userText(entry: unknown): string[] {
  const { role, content } = (entry ?? {}) as { role?: unknown; content?: unknown };
  const text = role === 'user' && typeof content === 'string' ? content.trim() : '';
  return text === '' ? [] : [cut(text)];
}
