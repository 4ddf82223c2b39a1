import type { ServerResponse } from 'node:http';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';

interface Spoken {
  role: string;
  content: string | null;
}

/** A model that tells a story as fast as a test lets it, and repeats everything else. */
export interface WordsModel {
  /** What a platform needs to know of it. */
  env: Record<string, string>;
  /** Writes on in the story that is being told; it is there when somebody has asked. */
  write: (text: string) => Promise<void>;
  /** Who listened is gone: what is written next is for whoever asks again. */
  leave: () => void;
  /** Ends it. */
  finish: () => Promise<void>;
  close: () => Promise<void>;
}

export async function createWordsModel(): Promise<WordsModel> {
  const waiting: ((response: ServerResponse) => void)[] = [];
  let telling: ServerResponse | undefined;
  const model: StandIn = await createStandIn((request, response) => {
    const messages = (request.body['messages'] ?? []) as Spoken[];
    const text = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    if (!text.includes('story')) return replyChat(request, response, { content: `You said: ${text}` });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    telling = response;
    for (const tell of waiting.splice(0)) tell(response);
  });
  const open = (): Promise<ServerResponse> =>
    telling ? Promise.resolve(telling) : new Promise((resolve) => waiting.push(resolve));
  const send = async (choice: object) => {
    (await open()).write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  };
  return {
    env: { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url },
    write: (content) => send({ delta: { content } }),
    leave: () => void (telling = undefined),
    async finish() {
      await send({ delta: {}, finish_reason: 'stop' });
      telling?.end('data: [DONE]\n\n');
      telling = undefined;
    },
    close: () => model.close(),
  };
}
