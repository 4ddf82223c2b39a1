import { isDuplicate } from '@troupe/db';
import { sql } from 'kysely';
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
import type { Access } from './pg-access.ts';
import { storableJson as json } from './pg-values.ts';

const contentOf = ({ text, files, extra, paths, words }: ChannelMessage) => ({
  text,
  ...(files && { files }),
  ...(extra && { extra }),
  ...(paths && { paths }),
  ...(words !== undefined && { words }),
});

const ms = (value: number) => sql`${value} * interval '1 millisecond'`;

/** The columns that a note changes. */
function changed(note: MessageNote) {
  if (note.kind === 'answer') return sql`answer = ${note.answer}`;
  if (note.kind === 'sent') return sql`sent = ${note.sent}`;
  if (note.kind === 'paths') return sql`content = content || ${json({ paths: note.paths, text: note.text })}::jsonb`;
  const why = note.note?.slice(0, MOST_NOTE) ?? null;
  if (note.kind === 'done')
    return sql`state = ${note.state}, note = ${why}, content = content - '{text,files,paths,words}'::text[], owner = null, done_at = clock_timestamp()`;
  return sql`owner = null, due_at = clock_timestamp() + ${ms(note.afterMs)}, told = told or ${note.isTold === true},
    tries = tries + ${note.failed === true ? 1 : 0}, note = coalesce(${why}, note)`;
}

/** What channels keep. */
function states({ db, userId, agentId, value }: Access): Pick<ChannelStore, 'channelState' | 'changeChannelState'> {
  const ofChannel = (channel: string) => sql`agent_id = ${agentId} and channel = ${channel}`;
  return {
    channelState: async (channel) =>
      (await value(sql<{ value: Record<string, unknown> }>`select state as value from agent_channels
        where ${ofChannel(channel)}`)) ?? {},
    changeChannelState: (channel, change) =>
      db.asUser(userId, async (tx) => {
        await sql`insert into agent_channels (agent_id, user_id, channel) values (${agentId}, ${userId}, ${channel})
          on conflict do nothing`.execute(tx);
        const held = await sql<{ state: Record<string, unknown> }>`select state from agent_channels
          where ${ofChannel(channel)} for update`.execute(tx);
        await sql`update agent_channels set state = ${json(change(held.rows[0]?.state ?? {}))}::jsonb
          where ${ofChannel(channel)}`.execute(tx);
      }),
  };
}

/** Writes a message down, once. */
function taking({ userId, agentId, rows, value }: Access): ChannelStore['takeMessage'] {
  const ofChannel = (channel: string) => sql`agent_id = ${agentId} and channel = ${channel}`;

  async function prune(channel: string): Promise<void> {
    if (Math.random() > PRUNE_CHANCE) return;
    await rows(sql`delete from agent_channel_messages where ${ofChannel(channel)} and state <> 'waiting'
      and received_at < (select received_at from agent_channel_messages where ${ofChannel(channel)}
        order by received_at desc offset ${RECEIPTS_KEPT} limit 1)`);
  }

  return async (channel, message, ignored) => {
    const isIgnored = ignored !== undefined;
    await prune(channel);
    const waiting = await value(sql<{ value: number }>`select count(*)::integer as value
      from agent_channel_messages where ${ofChannel(channel)} and state = 'waiting'`);
    if (!isIgnored && (waiting ?? 0) >= MOST_WAITING) return 'full';
    const taken = await rows(sql`insert into agent_channel_messages
        (agent_id, user_id, channel, id, chat, sender, content, state, note, done_at)
      values (${agentId}, ${userId}, ${channel}, ${message.id}, ${message.chat}, ${message.sender},
        ${json(isIgnored ? {} : contentOf(message))}::jsonb, ${isIgnored ? 'ignored' : 'waiting'},
        ${ignored?.slice(0, MOST_NOTE) ?? null}, ${isIgnored ? sql`clock_timestamp()` : null})
      on conflict (agent_id, channel, id) do nothing returning id`);
    return taken.length > 0 ? 'taken' : 'known';
  };
}

/** What came in over channels, and what they keep. */
export function channels(access: Access): ChannelStore {
  const { agentId, rows, value } = access;
  const ofChannel = (channel: string) => sql`agent_id = ${agentId} and channel = ${channel}`;

  return {
    ...states(access),
    takeMessage: taking(access),
    claimMessages: async (channel, { owner, ttlMs }, limit) => {
      const found = await rows(sql<Omit<WaitingMessage, 'text'> & { content: Pick<ChannelMessage, 'text'> }>`
        with due as materialized (
          select id from agent_channel_messages where ${ofChannel(channel)} and state = 'waiting'
            and due_at <= clock_timestamp() order by received_at, id limit ${limit} for update skip locked),
        taken as (
          update agent_channel_messages m set owner = ${owner}, due_at = clock_timestamp() + ${ms(ttlMs)}
          from due where m.agent_id = ${agentId} and m.channel = ${channel} and m.id = due.id
          returning m.id, chat, sender, content, tries, told, sent, received_at)
        select id, chat, sender, content, tries, told as "isTold", sent from taken order by received_at, id`);
      return found.map(({ content, ...row }) => ({ ...row, ...content }));
    },
    async holdMessages(channel, ids, { owner, ttlMs }) {
      if (ids.length > 0)
        await rows(sql`update agent_channel_messages set due_at = clock_timestamp() + ${ms(ttlMs)}
          where ${ofChannel(channel)} and id = any (${ids}) and owner = ${owner} and state = 'waiting'`);
    },
    async noteMessage(channel, id, owner, note) {
      try {
        const done = await rows(sql`update agent_channel_messages set ${changed(note)}
          where ${ofChannel(channel)} and id = ${id} and owner = ${owner} and state = 'waiting' returning id`);
        return done.length > 0;
      } catch (error) {
        // Another message has the answer, also one that was noted at this moment.
        if (note.kind === 'answer' && isDuplicate(error)) return false;
        throw error;
      }
    },
    countMessages: async (channel, sender, since) =>
      (await value(sql<{ value: number }>`select count(*)::integer as value from agent_channel_messages
        where ${ofChannel(channel)} and sender = ${sender} and state <> 'ignored' and received_at > ${since}`)) ?? 0,
    receipts: ({ channel = null, limit }) =>
      rows(sql<Receipt>`select channel, id, chat, sender, state, note, tries, iso_text(received_at) as "receivedAt",
          iso_text(done_at) as "doneAt"
        from agent_channel_messages where agent_id = ${agentId} and (${channel}::text is null or channel = ${channel})
        order by received_at desc, id limit ${limit}`),
  };
}
