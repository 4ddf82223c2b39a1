import { setTimeout as delay } from 'node:timers/promises';
import type { ChannelDeps, ChannelKind } from './channel.ts';

/**
 * What came in and was not answered yet. A message is written down before the service hears that we have it, and crossed
 * out after its answer was sent, so a crash in between costs nobody an answer. A message counts once.
 */

export interface Incoming {
  /** The service's own id of the message. */
  id: string;
  /** The conversation, where the answer goes. */
  chat: string;
  sender: string;
  text: string;
  /** What sending an answer needs besides. */
  extra?: Record<string, string>;
}

export interface Inbox {
  /** Settles when the message is safely stored; the answer follows. */
  take: (message: Incoming) => Promise<void>;
  /** Answers what a restart left behind. */
  recover: () => Promise<void>;
  remembered: (name: string) => unknown;
  remember: (name: string, value: unknown) => Promise<void>;
  /** Waits a moment for the answers under way; what takes longer is answered after the next start. */
  settle: () => Promise<void>;
}

type State = { pending?: Incoming[] } & Record<string, unknown>;

const SETTLE_MS = 3000;
const FAILED = 'Sorry, I cannot answer now. Please try again later.';

export async function openInbox(
  kind: ChannelKind,
  { agent, log, allowedSenders = [] }: ChannelDeps,
  send: (message: Incoming, text: string) => Promise<void>,
): Promise<Inbox> {
  const state = (await agent.store.channelState(kind)) as State;
  const running = new Set<Promise<void>>();
  let writing = Promise.resolve();

  /** One write after another, each of the newest state. */
  function save(): Promise<void> {
    writing = writing.catch(() => undefined).then(() => agent.store.setChannelState(kind, { ...state }));
    return writing;
  }

  async function answer(message: Incoming): Promise<void> {
    try {
      const { reply, outcome } = await agent.ask({
        to: { channel: kind, key: message.chat },
        inputId: message.id,
        content: message.text,
        from: `${kind} ${message.sender}`,
      });
      await send(message, outcome === 'failed' ? FAILED : reply || '…');
      state.pending = (state.pending ?? []).filter(({ id }) => id !== message.id);
      await save();
    } catch (err) {
      // It stays written down and is tried again at the next start.
      log.error({ err, agentId: agent.id, channel: kind }, 'answer not delivered');
      await agent.store.log({ level: 'error', message: 'An answer could not be delivered.', source: kind });
    }
  }

  function begin(message: Incoming): void {
    const work = answer(message).catch((err: unknown) => log.error({ err, channel: kind }, 'channel failed'));
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  return {
    async take(message) {
      if (message.text.trim() === '') return;
      if (allowedSenders.length > 0 && !allowedSenders.includes(message.sender)) {
        log.info({ agentId: agent.id, channel: kind }, 'message of a stranger ignored');
        return;
      }
      if (state.pending?.some(({ id }) => id === message.id)) return;
      state.pending = [...(state.pending ?? []), message];
      await save();
      begin(message);
    },
    recover: async () => (state.pending ?? []).forEach(begin),
    remembered: (name) => state[name],
    async remember(name, value) {
      state[name] = value;
      await save();
    },
    async settle() {
      const patience = new AbortController();
      const { signal } = patience;
      await Promise.race([
        Promise.all(running),
        delay(SETTLE_MS, undefined, { signal, ref: false }).catch(() => undefined),
      ]);
      patience.abort();
      await writing;
    },
  };
}
