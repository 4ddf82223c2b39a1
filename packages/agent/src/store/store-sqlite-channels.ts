import type { SQLInputValue } from 'node:sqlite';
import {
  MOST_NOTE,
  MOST_WAITING,
  PRUNE_CHANCE,
  RECEIPTS_KEPT,
  type ChannelMessage,
  type ChannelStore,
  type MessageNote,
  type Receipt,
  type WaitingMessage,
} from './channel-store.ts';
import type { SqliteAccess, Sync } from './sqlite-access.ts';

type Row = Omit<WaitingMessage, 'isTold' | 'text'> & { content: string; isTold: number; number: number };
type Change = [columns: string, ...values: SQLInputValue[]];

const readRow = ({ content, isTold, id, chat, sender, tries, sent }: Row): WaitingMessage => ({
  id,
  chat,
  sender,
  tries,
  sent,
  isTold: isTold === 1,
  ...(JSON.parse(content) as Pick<ChannelMessage, 'text'>),
});

const contentOf = ({ text, files, extra, paths, words }: ChannelMessage): string =>
  JSON.stringify({ text, files, extra, paths, words });

const OF = 'agent_id = ? and channel = ?';

/** The columns that a note changes. */
function changed(note: MessageNote, { now, iso }: SqliteAccess): Change {
  if (note.kind === 'answer') return ['answer = ?', note.answer];
  if (note.kind === 'sent') return ['sent = ?', note.sent];
  if (note.kind === 'paths')
    return ['content = json_patch(content, ?)', JSON.stringify({ paths: note.paths, text: note.text })];
  const why = note.note?.slice(0, MOST_NOTE) ?? null;
  if (note.kind === 'done')
    return ["state = ?, note = ?, content = '{}', owner = null, done_at = ?", note.state, why, iso()];
  return [
    'owner = null, due_at = ?, told = max(told, ?), tries = tries + ?, note = coalesce(?, note)',
    now().getTime() + note.afterMs,
    note.isTold ? 1 : 0,
    note.failed ? 1 : 0,
    why,
  ];
}

/** What channels keep. */
function states({
  first,
  run,
  atomically,
  agentId,
}: SqliteAccess): Sync<Pick<ChannelStore, 'channelState' | 'changeChannelState'>> {
  const channelState = (channel: string): Record<string, unknown> =>
    JSON.parse(
      first<{ state: string }>(`select state from channels where ${OF}`, agentId, channel)?.state ?? '{}',
    ) as Record<string, unknown>;

  return {
    channelState,
    changeChannelState: (channel, change) =>
      atomically(
        () =>
          void run(
            `insert into channels (agent_id, channel, state) values (?, ?, ?)
            on conflict (agent_id, channel) do update set state = excluded.state`,
            agentId,
            channel,
            JSON.stringify(change(channelState(channel))),
          ),
      ),
  };
}

/** Writes a message down, once. */
function taking({ first, run, agentId, now, iso }: SqliteAccess): Sync<ChannelStore>['takeMessage'] {
  function prune(channel: string): void {
    if (Math.random() > PRUNE_CHANCE) return;
    run(
      `delete from channel_messages where ${OF} and state <> 'waiting' and received_at < (
        select received_at from channel_messages where ${OF} order by received_at desc limit 1 offset ?)`,
      agentId,
      channel,
      agentId,
      channel,
      RECEIPTS_KEPT,
    );
  }

  const waiting = (channel: string): number =>
    first<{ n: number }>(
      `select count(*) as n from channel_messages where ${OF} and state = 'waiting'`,
      agentId,
      channel,
    )?.n ?? 0;

  return (channel, message, ignored) => {
    const isIgnored = ignored !== undefined;
    prune(channel);
    if (!isIgnored && waiting(channel) >= MOST_WAITING) return 'full';
    const { changes } = run(
      `insert into channel_messages (agent_id, channel, id, chat, sender, content, state, due_at, note,
        received_at, done_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      agentId,
      channel,
      message.id,
      message.chat,
      message.sender,
      isIgnored ? '{}' : contentOf(message),
      isIgnored ? 'ignored' : 'waiting',
      now().getTime(),
      ignored?.slice(0, MOST_NOTE) ?? null,
      iso(),
      isIgnored ? iso() : null,
    );
    return changes > 0 ? 'taken' : 'known';
  };
}

/** What came in, for those who look. */
function reading({ all, first, agentId }: SqliteAccess): Sync<Pick<ChannelStore, 'countMessages' | 'receipts'>> {
  return {
    countMessages: (channel, sender, since) =>
      first<{ n: number }>(
        `select count(*) as n from channel_messages where ${OF} and sender = ? and state <> 'ignored' and received_at > ?`,
        agentId,
        channel,
        sender,
        since.toISOString(),
      )?.n ?? 0,
    receipts: ({ channel = null, limit }) =>
      all<Receipt>(
        `select channel, id, chat, sender, state, note, tries, received_at as receivedAt, done_at as doneAt
        from channel_messages where agent_id = ? and (? is null or channel = ?) order by received_at desc, id limit ?`,
        agentId,
        channel,
        channel,
        limit,
      ),
  };
}

/** What came in over channels, and what they keep. */
export function channels(access: SqliteAccess): Sync<ChannelStore> {
  const { all, first, run, atomically, agentId, now } = access;
  const later = (ms: number): number => now().getTime() + ms;
  return {
    ...states(access),
    ...reading(access),
    takeMessage: taking(access),
    claimMessages: (channel, { owner, ttlMs }, limit) =>
      all<Row>(
        `update channel_messages set owner = ?, due_at = ? where ${OF} and id in (
          select id from channel_messages where ${OF} and state = 'waiting' and due_at <= ? order by rowid limit ?)
        returning id, chat, sender, content, tries, told as isTold, sent, rowid as number`,
        owner,
        later(ttlMs),
        agentId,
        channel,
        agentId,
        channel,
        later(0),
        limit,
      )
        .toSorted((one, other) => one.number - other.number)
        .map(readRow),
    holdMessages(channel, ids, { owner, ttlMs }) {
      for (const id of ids)
        run(
          `update channel_messages set due_at = ? where ${OF} and id = ? and owner = ? and state = 'waiting'`,
          later(ttlMs),
          agentId,
          channel,
          id,
          owner,
        );
    },
    noteMessage: (channel, id, owner, note) =>
      atomically(() => {
        const others = 'select 1 from channel_messages where agent_id = ? and channel = ? and answer = ? and id <> ?';
        if (note.kind === 'answer' && first(others, agentId, channel, note.answer, id)) return false;
        const [columns, ...values] = changed(note, access);
        const sql = `update channel_messages set ${columns} where ${OF} and id = ? and owner = ? and state = 'waiting'`;
        return run(sql, ...values, agentId, channel, id, owner).changes > 0;
      }),
  };
}
