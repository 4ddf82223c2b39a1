import { createStandIn, replyChat, type StandIn } from '@troupe/ai';

interface Spoken {
  role: string;
  content: string | null;
}

/** Writes a file and asks a question when asked to, never answers when told to wait, and greets otherwise. */
export const createNotesModel = (): Promise<StandIn> =>
  createStandIn((request, response) => {
    const messages = (request.body['messages'] ?? []) as Spoken[];
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const text = messages[asked]?.content ?? '';
    const usage = { prompt_tokens: 50_000, completion_tokens: 10_000 };
    if (text.includes('wait')) return;
    if (text.includes('paint') && messages.at(-1)?.role !== 'tool') {
      const question = JSON.stringify({ message: 'Which colour?', options: ['red', 'blue'] });
      const toolCalls = [{ id: 'call_1', name: 'user_prompt', arguments: question }];
      return replyChat(request, response, { content: null, toolCalls, usage });
    }
    if (text.includes('note') && messages.at(-1)?.role !== 'tool') {
      const path = /\bin (\S+)/.exec(text)?.[1] ?? 'note.txt';
      const args = JSON.stringify({ path, content: text.includes('again') ? 'Hello\nagain' : 'Hello' });
      const toolCalls = [{ id: 'call_1', name: 'write_file', arguments: args }];
      return replyChat(request, response, { content: null, toolCalls, usage });
    }
    const result = messages.at(-1)?.role === 'tool' ? messages.at(-1)!.content : '';
    replyChat(request, response, { content: `**Done.** ${result ?? ''}`, usage });
  });
