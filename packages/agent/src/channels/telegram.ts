import { pieces, TokenRefused, type Channel, type ChannelDeps } from './channel.ts';
import { openInbox, type Inbox } from './inbox.ts';
import { keepListening, type Listening } from './listening.ts';

/** Telegram's Bot API by long polling: no public address is needed. */

const MAX_TEXT = 4096;

interface Update {
  update_id: number;
  message?: { message_id: number; text?: string; chat: { id: number }; from?: { id: number; is_bot?: boolean } };
}

type Call = <T>(method: string, body: object, signal?: AbortSignal) => Promise<T>;

/** Ends with the signal. */
async function listen(call: Call, box: Inbox, pollSeconds: number, signal: AbortSignal): Promise<void> {
  let offset = Number((await box.remembered('offset')) ?? 0);
  for (;;) {
    const updates = await call<Update[]>(
      'getUpdates',
      { offset, timeout: pollSeconds, allowed_updates: ['message'] },
      signal,
    );
    for (const { update_id: id, message } of updates) {
      if (message?.from && !message.from.is_bot) {
        const chat = String(message.chat.id);
        await box.take({
          id: `${chat}:${message.message_id}`,
          chat,
          sender: String(message.from.id),
          text: message.text ?? '',
        });
      }
      // The next look tells Telegram that everything below is ours.
      offset = id + 1;
      await box.remember('offset', offset);
    }
    signal.throwIfAborted();
  }
}

export function createTelegram(deps: ChannelDeps): Channel {
  const { token, outbound, agent, baseUrl = 'https://api.telegram.org', pollSeconds = 8 } = deps;
  let inbox: Inbox | undefined;
  let listening: Listening | undefined;

  async function call<T>(method: string, body: object, signal?: AbortSignal): Promise<T> {
    const response = await outbound.fetch(`${baseUrl}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout: (pollSeconds + 10) * 1000,
      ...(signal && { signal }),
    });
    const answer = (await response.json()) as { ok: boolean; result: T; description?: string };
    if (response.status === 401 || response.status === 404) throw new TokenRefused('Telegram refused the token');
    if (!answer.ok) throw new Error(`Telegram: ${answer.description ?? response.status}`);
    return answer.result;
  }

  return {
    kind: 'telegram',
    async start() {
      const box = openInbox('telegram', deps, async ({ chat }, text) => {
        for (const piece of pieces(text, MAX_TEXT)) await call('sendMessage', { chat_id: Number(chat), text: piece });
      });
      inbox = box;
      await box.recover();
      listening = keepListening('telegram', deps, (signal) => listen(call, box, pollSeconds, signal));
      await agent.store.log({ level: 'info', message: 'Channel started.', source: 'telegram' });
    },
    async stop() {
      await listening?.stop();
      await inbox?.settle();
    },
  };
}
