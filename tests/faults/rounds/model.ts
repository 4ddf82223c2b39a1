import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { messagesOf } from '@troupe/testing/services/asked';

const WRITE = /^write (\S+)$/;

/** What is said to have an agent write a file with a tool of its own. */
export const toWrite = (mark: string): string => `write ${mark}`;

/** What a model says that was told so, when the file is kept. Where it is not, why not stands on a line of its own. */
export const isWritten = (reply: string, mark: string): boolean =>
  reply.startsWith('Wrote ') && reply.includes(mark) && !reply.includes('\n[');

/** A model that takes so long for each answer, has the agent write a file where it is told so, and says what came of it. */
export const createModel = (ms = 0): Promise<StandIn> =>
  createStandIn(async (request, response) => {
    if (ms > 0) await delay(ms);
    const last = messagesOf(request).at(-1);
    const mark = last?.role === 'user' ? WRITE.exec(String(last.content))?.[1] : undefined;
    if (last?.role === 'tool') return replyChat(request, response, { content: last.content });
    if (mark === undefined) return replyChat(request, response);
    const given = JSON.stringify({ path: `${mark}.txt`, content: mark });
    replyChat(request, response, {
      content: null,
      toolCalls: [{ id: `call-${mark}`, name: 'write_file', arguments: given }],
    });
  });
