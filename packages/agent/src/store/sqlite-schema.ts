/** Idempotent: run at every start. */
export const SQLITE_SCHEMA = `
create table if not exists definitions (
  agent_id text not null, version integer not null, definition text not null, primary key (agent_id, version)
);
create table if not exists sessions (
  id text primary key, agent_id text not null, channel text not null, key text not null,
  status text not null default 'idle', last_seq integer not null default 0, compacted_to integer not null default 0,
  lease_owner text, lease_until integer, created_at text not null, updated_at text not null,
  unique (agent_id, channel, key)
);
create table if not exists events (
  session_id text not null references sessions (id) on delete cascade, seq integer not null, agent_id text not null,
  type text not null, data text not null, input_id text, at text not null, primary key (session_id, seq)
);
create unique index if not exists events_input on events (session_id, input_id) where input_id is not null;
create index if not exists events_by_type on events (agent_id, type, at);
create table if not exists background (
  id text primary key, agent_id text not null, session_id text not null references sessions (id) on delete cascade,
  run_seq integer not null, member_id text not null, member text not null, task text not null, limits text not null,
  depth integer not null, status text not null default 'running', result text not null default '', spent text,
  member_session text, tells integer not null default 1, settled integer not null default 0,
  lease_owner text, lease_until integer, created_at text not null, ended_at text
);
create index if not exists background_of_session on background (session_id);
create index if not exists background_open on background (agent_id, created_at);
create table if not exists days (agent_id text not null, day text not null, tokens integer not null, primary key (agent_id, day));
create table if not exists memory (
  id text primary key, scope text not null, key text, content text not null,
  created_at text not null, updated_at text not null, expires_at text not null, unique (scope, key)
);
drop trigger if exists memory_added;
drop trigger if exists memory_removed;
drop trigger if exists memory_changed;
drop table if exists memory_words;
drop trigger if exists memory_found;
drop trigger if exists memory_lost;
drop trigger if exists memory_found_anew;
drop table if exists memory_search;
create index if not exists memory_made on memory (scope, created_at, id);
create table if not exists todos (
  scope text not null, number integer not null, description text not null, status text not null default 'pending',
  primary key (scope, number)
);
create table if not exists logs (
  id integer primary key autoincrement, agent_id text not null, level text not null, message text not null,
  source text not null, at text not null
);
create table if not exists channels (
  agent_id text not null, channel text not null, state text not null, primary key (agent_id, channel)
);
create table if not exists channel_messages (
  agent_id text not null, channel text not null, id text not null, chat text not null, sender text not null,
  content text not null, state text not null, tries integer not null default 0, told integer not null default 0,
  sent integer not null default 0, answer text, owner text, due_at integer not null, note text,
  received_at text not null, done_at text, primary key (agent_id, channel, id)
);
create index if not exists channel_messages_due on channel_messages (agent_id, channel, due_at) where state = 'waiting';
create unique index if not exists channel_messages_answer on channel_messages (agent_id, channel, answer)
  where answer is not null;
`;

/** Added later: a file of an older release gets them. */
export const SQLITE_COLUMNS: readonly [table: string, column: string, definition: string][] = [
  ['sessions', 'title', 'text'],
  ['sessions', 'pinned', 'integer not null default 0'],
  ['sessions', 'archived', 'integer not null default 0'],
  ['sessions', 'root_id', 'text'],
  ['sessions', 'branch_of', 'text'],
  ['sessions', 'branch_at', 'integer'],
  ['events', 'copied', 'integer not null default 0'],
  ['memory', 'place', 'integer'],
  ['memory', 'indexed', 'text'],
  ['memory', 'source_session', 'text'],
  ['memory', 'source_seq', 'integer'],
  ['memory', 'disputes', 'text'],
  ['memory_vectors', 'n', 'integer'],
];

/** Facts of an agent's file. `fact_care` says whether they are wanted, how far was looked, and what the owner is told. */
export const MEMORY_FACTS = `
create table if not exists fact_care (
  agent_id text primary key, seen_at text not null, seen_id text not null default '', note text
);
create table if not exists fact_progress (session_id text primary key, seq integer not null);
create index if not exists memory_source on memory (source_session) where source_session is not null;
create trigger if not exists fact_progress_ends after delete on sessions begin
  delete from fact_progress where session_id = old.id;
end;
`;
