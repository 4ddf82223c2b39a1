import { newId } from '@troupe/kernel';
import type { SessionEventBody } from '../session/events.ts';
import {
  AROUND,
  SEARCHED_MESSAGES,
  type Branch,
  type ConversationStore,
  type Found,
  type GivenInput,
  type Session,
} from './conversations.ts';
import type { Sqlite } from './sqlite.ts';

type Methods = {
  [K in keyof ConversationStore]: (
    ...args: Parameters<ConversationStore[K]>
  ) => Awaited<ReturnType<ConversationStore[K]>>;
};

type Row = Omit<Session, 'pinned' | 'archived'> & { pinned: number; archived: number };

/** What a conversation `s` is called. */
export const TITLE = `coalesce(s.title, (select substr(e.data ->> 'content', 1, 120) from events e
  where e.session_id = s.id and e.type = 'user' and e.data ->> 'content' <> '' order by e.seq limit 1), '')`;
const FIELDS = `s.id, s.channel, s.key, s.status, s.last_seq as lastSeq, s.created_at as createdAt,
  s.updated_at as updatedAt, ${TITLE} as title, s.pinned, s.archived, s.branch_of as branchOf, s.branch_at as branchAt`;
const FAMILY = `agent_id = ?1 and coalesce(root_id, id) = (
  select coalesce(root_id, id) from sessions where id = ?2 and agent_id = ?1)`;

const read = ({ pinned, archived, ...rest }: Row): Session => ({
  ...rest,
  pinned: pinned === 1,
  archived: archived === 1,
});

const whole = (value: boolean | undefined): number | null => (value === undefined ? null : Number(value));

export const sqliteConversations = (sqlite: Sqlite, agentId: string, iso: () => string): Methods => ({
  ...looking(sqlite, agentId),
  ...keeping(sqlite, agentId),
  ...branching(sqlite, agentId, iso),
});

function looking({ all, first }: Sqlite, agentId: string): Pick<Methods, 'session' | 'sessions' | 'inputs' | 'search'> {
  return {
    session(id) {
      const found = first<Row>(`select ${FIELDS} from sessions s where s.id = ? and s.agent_id = ?`, id, agentId);
      return found && read(found);
    },
    sessions({ limit, offset, keys = '', key = null, latest = false, archived }) {
      const newest = latest
        ? `and not exists (select 1 from sessions o where o.agent_id = s.agent_id
            and coalesce(o.root_id, o.id) = coalesce(s.root_id, s.id)
            and (o.updated_at > s.updated_at or (o.updated_at = s.updated_at and o.id < s.id)))`
        : '';
      return all<Row>(
        `select ${FIELDS} from sessions s where s.agent_id = ? and s.last_seq > 0 and substr(s.key, 1, length(?)) = ?
          and (? is null or s.key = ?) and (? is null or s.archived = ?) ${newest}
          order by ${latest ? 's.pinned desc,' : ''} s.updated_at desc, s.id limit ? offset ?`,
        agentId,
        keys,
        keys,
        key,
        key,
        whole(archived),
        whole(archived),
        limit,
        offset,
      ).map(read);
    },
    inputs({ channel, limit, offset, keys = '', key = null }) {
      const from = `from events e join sessions s on s.id = e.session_id
        where e.agent_id = ?1 and e.type = 'user' and e.copied = 0 and s.channel = ?2
          and substr(s.key, 1, length(?3)) = ?3 and (?4 is null or s.key = ?4)`;
      const inputs = all<GivenInput>(
        `select e.session_id as sessionId, e.seq as seq ${from} order by e.at desc, e.seq desc limit ?5 offset ?6`,
        agentId,
        channel,
        keys,
        key,
        limit,
        offset,
      );
      const counted = first<{ total: number }>(`select count(*) as total ${from}`, agentId, channel, keys, key);
      return { inputs: inputs.map((one) => ({ ...one })), total: counted?.total ?? 0 };
    },
    search: (words, { limit, keys = '' }) =>
      all<Found>(
        `select m.session_id as sessionId, m.seq as seq, m.at as at, m.type as role, ${TITLE} as title,
          substr(m.content, max(1, instr(folded(m.content), folded(?1)) - ${AROUND.before}), ${AROUND.length}) as text
        from (select session_id, seq, at, type, data ->> 'content' as content from events
            where agent_id = ?2 and type in ('user', 'assistant') and copied = 0
            order by at desc, seq desc limit ${SEARCHED_MESSAGES}) m
          join sessions s on s.id = m.session_id
        where instr(folded(m.content), folded(?1)) > 0 and substr(s.key, 1, length(?3)) = ?3
        order by m.at desc, m.seq desc limit ?4`,
        words,
        agentId,
        keys,
        limit,
      ),
  };
}

function keeping({ all, run, atomically }: Sqlite, agentId: string): Pick<Methods, 'describe' | 'removeConversation'> {
  return {
    describe: (id, { title, pinned, archived }) =>
      run(
        `update sessions set title = coalesce(?3, title), pinned = coalesce(?4, pinned),
          archived = coalesce(?5, archived) where ${FAMILY}`,
        agentId,
        id,
        title ?? null,
        whole(pinned),
        whole(archived),
      ).changes > 0,
    removeConversation: (id) =>
      atomically(() => {
        const ids = all<{ id: string }>(`select id from sessions where ${FAMILY}`, agentId, id);
        for (const one of ids) {
          run('delete from events where session_id = ?', one.id);
          run('delete from sessions where id = ?', one.id);
        }
        return ids.length > 0;
      }),
  };
}

function branching(
  { all, first, run, atomically }: Sqlite,
  agentId: string,
  iso: () => string,
): Pick<Methods, 'branch' | 'branches'> {
  return {
    branch: (id, { at, key, closing }) =>
      atomically(() => {
        const made = newId();
        const from = first<{ channel: string }>(
          'select channel from sessions where id = ? and agent_id = ?',
          id,
          agentId,
        );
        if (!from) return undefined;
        const known = first<{ id: string }>(
          'select id from sessions where agent_id = ? and channel = ? and key = ?',
          agentId,
          from.channel,
          key,
        );
        if (known) return known.id;
        copy({ run, agentId, iso }, { id, made, at, key, closing });
        return made;
      }),
    branches: (id) =>
      all<Branch>(
        `select id, branch_of as branchOf, branch_at as branchAt, updated_at as updatedAt from sessions
        where ${FAMILY} order by created_at, id`,
        agentId,
        id,
      ),
  };
}

interface Copied {
  id: string;
  made: string;
  at: number;
  key: string;
  closing: readonly SessionEventBody[];
}

/** The session and its steps up to `at`, and what closes it. */
function copy(
  { run, agentId, iso }: Pick<Sqlite, 'run'> & { agentId: string; iso: () => string },
  { id, made, at, key, closing }: Copied,
): void {
  run(
    `insert into sessions (id, agent_id, channel, key, last_seq, compacted_to, created_at, updated_at, title, pinned,
      archived, root_id, branch_of, branch_at)
    select ?, agent_id, channel, ?, ?, coalesce((select max(data ->> 'upTo') from events
      where session_id = s.id and type = 'compaction' and seq <= ?), 0), ?, ?, title, pinned, archived,
      coalesce(root_id, id), id, ? from sessions s where id = ?`,
    made,
    key,
    at + closing.length,
    at,
    iso(),
    iso(),
    at,
    id,
  );
  run(
    `insert into events (session_id, seq, agent_id, type, data, at, copied)
    select ?, seq, agent_id, type, data, at, 1 from events where session_id = ? and seq <= ?`,
    made,
    id,
    at,
  );
  for (const [index, body] of closing.entries())
    run(
      'insert into events (session_id, seq, agent_id, type, data, at) values (?, ?, ?, ?, ?, ?)',
      made,
      at + index + 1,
      agentId,
      body.type,
      JSON.stringify(body),
      iso(),
    );
}
