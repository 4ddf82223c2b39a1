-- expand: new tables
-- Memory stores of clients of Anthropic's Managed Agents: trees of texts that their sessions read and write, with what each
-- text was before. `bytes` of a store counts all versions; whoever writes to one holds its row.
create table managed_stores (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  description text not null,
  metadata jsonb not null,
  bytes integer not null default 0,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
select own_by_user('managed_stores');
create index managed_stores_user on managed_stores (user_id, created_at desc, id);
create trigger bounded before insert on managed_stores for each row
  execute function refuse_beyond('100', 'At most 100 memory stores');

create table managed_memories (
  id text primary key,
  user_id text not null references users on delete cascade,
  store_id text not null references managed_stores on delete cascade,
  path text collate "C" not null,
  content text not null,
  sha256 text not null,
  bytes integer not null,
  version_id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (store_id, path)
);
select own_by_user('managed_memories');
create index managed_memories_user on managed_memories (user_id);
create trigger bounded before insert on managed_memories for each row
  execute function refuse_beyond('2000', 'At most 2,000 memories of a store', 'store_id');

-- Stay when their memory is deleted. What was redacted has neither path nor content.
create table managed_memory_versions (
  id text primary key,
  user_id text not null references users on delete cascade,
  store_id text not null references managed_stores on delete cascade,
  memory_id text not null,
  operation text not null check (operation in ('created', 'modified', 'deleted')),
  path text,
  content text,
  sha256 text,
  bytes integer,
  -- {type: session_actor, session_id} or {type: api_actor, api_key_id}, as clients read it
  created_by jsonb not null,
  created_at timestamptz not null,
  redacted_at timestamptz,
  redacted_by jsonb
);
select own_by_user('managed_memory_versions');
create index managed_memory_versions_user on managed_memory_versions (user_id);
create index managed_memory_versions_store on managed_memory_versions (store_id, created_at desc, id);
create index managed_memory_versions_age on managed_memory_versions (created_at);
create index managed_memory_versions_memory on managed_memory_versions (memory_id, created_at desc, id);

create table managed_session_stores (
  session_id text not null references managed_sessions on delete cascade,
  store_id text not null references managed_stores on delete cascade,
  user_id text not null references users on delete cascade,
  -- As they were when it was given.
  name text not null,
  description text not null,
  instructions text not null,
  access text not null check (access in ('read_write', 'read_only')),
  created_at timestamptz not null,
  primary key (session_id, store_id),
  unique (session_id, name)
);
select own_by_user('managed_session_stores');
create index managed_session_stores_user on managed_session_stores (user_id);
create index managed_session_stores_store on managed_session_stores (store_id);
