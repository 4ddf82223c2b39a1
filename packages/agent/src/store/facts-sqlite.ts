import { newId } from '@troupe/kernel';
import { afterStranger, MESSAGE_CHARACTERS, MOST_MESSAGES, OPEN_TO_ANYBODY, TALKED_IN } from './facts.ts';
import type { Fact, FactStore, KeptFact, MemoryState, NewFacts, Said, Talk } from './facts.ts';
import { TITLE } from './conversations-sqlite.ts';
import { INDEXED, putMemory, takeMemory, type IndexedMemory } from './memory-index.ts';
import type { SqliteAccess } from './sqlite-access.ts';

type Methods = { [K in keyof FactStore]: (...args: Parameters<FactStore[K]>) => Awaited<ReturnType<FactStore[K]>> };

const MOST_SHOWN = 100;

export const sqliteFacts = (access: SqliteAccess): Methods => ({
  ...resting(access),
  ...writing(access),
  ...showing(access),
});

/** The newest message of somebody whom the owner does not name; 0: there is none. */
const lastStranger = ({ first }: SqliteAccess, sessionId: string, after: number, channel: string): number =>
  first<{ seq: number | null }>(
    `select max(seq) as seq from events where session_id = ? and seq > ? and type = 'user'
      and data ->> 'named' is null and data ->> 'from' like ?`,
    sessionId,
    after,
    `${channel} %`,
  )?.seq ?? 0;

function resting(access: SqliteAccess): Pick<Methods, 'resting' | 'seen' | 'unwanted' | 'talk'> {
  const { all, first, run, agentId, now, iso } = access;
  return {
    resting({ seconds, most }) {
      run('insert or ignore into fact_care (agent_id, seen_at) values (?, ?)', agentId, iso());
      const rested = new Date(now().getTime() - seconds * 1000).toISOString();
      return all<{ sessionId: string; at: string }>(
        `select s.id as sessionId, s.updated_at as at from sessions s join fact_care c on c.agent_id = s.agent_id
        where s.agent_id = ? and s.updated_at <= ? and (s.updated_at, s.id) > (c.seen_at, c.seen_id)
          and s.channel in (select value from json_each(?)) order by s.updated_at, s.id limit ?`,
        agentId,
        rested,
        JSON.stringify(TALKED_IN),
        most,
      ).map((one) => ({ ...one }));
    },
    seen: ({ sessionId, at }) =>
      void run('update fact_care set seen_at = ?, seen_id = ? where agent_id = ?', at, sessionId, agentId),
    unwanted: () => void run('delete from fact_care where agent_id = ?', agentId),
    talk(sessionId) {
      const found = first<Omit<Talk, 'said'> & { channel: string }>(
        `select s.status, s.channel, s.last_seq as lastSeq, coalesce((select seq from fact_progress where session_id = s.id),
          (select max(source_seq) from memory where source_session = s.id), 0) as "from"
        from sessions s where s.id = ? and s.agent_id = ? and not exists (select 1 from events e
          where e.session_id = s.id and e.type = 'user' and e.data ->> '$.wishes.abilities' = 'answers')`,
        sessionId,
        agentId,
      );
      if (!found) return undefined;
      const { channel, ...talk } = found;
      const stranger = OPEN_TO_ANYBODY.includes(channel) ? lastStranger(access, sessionId, talk.from, channel) : 0;
      const said = all<Omit<Said, 'at'> & { at: string }>(
        `select seq, type as role, substr(data ->> 'content', 1, ?) as text, at from events
        where session_id = ? and seq > ? and seq <= ? and copied = 0 and type in ('user', 'assistant')
          and data ->> 'background' is null and data ->> 'content' <> '' order by seq desc limit ?`,
        MESSAGE_CHARACTERS,
        sessionId,
        Math.max(talk.from, stranger),
        talk.lastSeq,
        MOST_MESSAGES,
      );
      const inOrder = said.map((one) => ({ ...one, at: new Date(one.at) })).toReversed();
      return { ...talk, said: stranger > 0 ? afterStranger(inOrder) : inOrder };
    },
  };
}

/** False: somebody has taken out facts of this conversation meanwhile, or it is gone. */
const moveOn = ({ run }: SqliteAccess, { sessionId, from, to }: NewFacts): boolean =>
  run(
    `insert into fact_progress as p (session_id, seq) select id, ? from sessions where id = ?
    on conflict (session_id) do update set seq = excluded.seq where p.seq = ?`,
    to,
    sessionId,
    from,
  ).changes > 0;

function writing(access: SqliteAccess): Pick<Methods, 'tokensToday' | 'write' | 'note'> {
  const { first, run, atomically, agentId, iso } = access;
  const today = (): string => iso().slice(0, 10);
  return {
    tokensToday: () =>
      first<{ tokens: number }>('select tokens from days where agent_id = ? and day = ?', agentId, today())?.tokens ??
      0,
    write: (given) =>
      atomically(() => {
        run(
          `insert into days (agent_id, day, tokens) values (?, ?, ?)
          on conflict (agent_id, day) do update set tokens = tokens + excluded.tokens`,
          agentId,
          today(),
          given.tokens,
        );
        return moveOn(access, given) ? addFacts(access, given) : undefined;
      }),
    note: (text) => void run('update fact_care set note = ? where agent_id = ?', text, agentId),
  };
}

/** As far as there is room; answers how many there was none for. */
function addFacts(access: SqliteAccess, { scope, sessionId, facts, bounds }: NewFacts): number {
  const { first, iso, scopeName } = access;
  const where = scopeName(scope);
  const { n } = first<{ n: number }>(
    'select count(*) as n from memory where scope = ? and expires_at > ?',
    where,
    iso(),
  )!;
  const isKnown = ({ content }: Fact): boolean =>
    first('select 1 from memory where scope = ? and folded(content) = folded(?)', where, content) !== undefined;
  const fresh = facts.filter((fact) => !isKnown(fact));
  const room = Math.max(0, bounds.maxEntries - n);
  for (const fact of fresh.slice(0, room)) addFact(access, fact, { where, sessionId, ttlDays: bounds.ttlDays });
  return Math.max(0, fresh.length - room);
}

function addFact(
  access: SqliteAccess,
  { content, said, disputes }: Fact,
  { where, sessionId, ttlDays }: { where: string; sessionId: string; ttlDays: number },
): void {
  const { all, first, run, now } = access;
  const id = newId();
  const others = all<{ id: string }>(
    'select id from memory where scope = ? and id in (select value from json_each(?)) order by created_at, id',
    where,
    JSON.stringify(disputes),
  );
  run(
    `insert into memory (id, scope, content, created_at, updated_at, expires_at, source_session, source_seq, disputes)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    where,
    content,
    said.at.toISOString(),
    said.at.toISOString(),
    new Date(now().getTime() + ttlDays * 86_400_000).toISOString(),
    sessionId,
    said.seq,
    others.length === 0 ? null : JSON.stringify(others.map((one) => one.id)),
  );
  putMemory(access, first<IndexedMemory>(`select ${INDEXED} from memory where id = ?`, id)!);
}

type FactRow = Omit<KeptFact, 'contradicts'> & { disputes: string | null };

function showing(access: SqliteAccess): Pick<Methods, 'state' | 'decide'> {
  const { all, first, run, atomically, agentId, iso, scopeName } = access;
  const facts = (where: string, id: string | null, most: number): KeptFact[] =>
    all<FactRow>(
      `select m.id, m.content, m.created_at as at, m.source_session as conversationId, m.source_seq as message,
        (select ${TITLE} from sessions s where s.id = m.source_session) as conversation, m.disputes
      from memory m where m.scope = ?1 and m.source_session is not null and m.expires_at > ?2
        and (?3 is null or m.id = ?3) order by m.created_at desc, m.id limit ?4`,
      where,
      iso(),
      id,
      most,
    ).map(({ disputes, ...fact }) => ({
      ...fact,
      contradicts: all<KeptFact['contradicts'][number]>(
        `select id, content, created_at as at from memory where scope = ? and expires_at > ?
          and id in (select value from json_each(?)) order by created_at, id`,
        where,
        iso(),
        disputes ?? '[]',
      ).map((one) => ({ ...one })),
    }));
  return {
    state: (scope, model): MemoryState => ({
      ...first<Omit<MemoryState, 'found'>>(
        `select (select count(*) from memory where scope = ?1 and expires_at > ?2) as memories,
          (select count(*) from memory m join memory_vectors v on v.id = m.id and v.made_of = m.updated_at
            join memory_models s on s.scope = m.scope and s.model = v.model and s.dimension = v.dimension
            where m.scope = ?1 and m.expires_at > ?2 and v.model = ?3) as embedded,
          (select note from memory_models where scope = ?1 and model = ?3) as meaningNote,
          (select note from fact_care where agent_id = ?4) as factsNote`,
        scopeName(scope),
        iso(),
        model,
        agentId,
      )!,
      found: facts(scopeName(scope), null, MOST_SHOWN),
    }),
    decide: (scope, id, keep) =>
      atomically(() => {
        const where = scopeName(scope);
        const [fact] = facts(where, id, 1);
        if (!fact) return false;
        const gone = keep === 'all' ? [] : keep === 'this' ? fact.contradicts.map((one) => one.id) : [id];
        const rows = all<IndexedMemory>(
          `delete from memory where scope = ? and id in (select value from json_each(?)) returning ${INDEXED}`,
          where,
          JSON.stringify(gone),
        );
        for (const row of rows) takeMemory(access, row);
        run('update memory set disputes = null where scope = ? and id = ?', where, id);
        return true;
      }),
  };
}
