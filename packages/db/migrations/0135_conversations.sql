-- expand: conversations get titles, branches and links; what was there reads as before
-- A conversation has a title of its owner's, may be pinned or put away, and has branches: sessions that begin with the
-- steps of another up to one of them. The steps are copied, under the same numbers, so that nothing of a session ever
-- depends on another; `copied` keeps them from being counted twice.
alter table agent_sessions
  add column title text,
  add column pinned boolean not null default false,
  add column archived boolean not null default false,
  -- The first of its branches; null: itself.
  add column root_id text,
  add column branch_of text,
  add column branch_at integer;
create index agent_sessions_branches on agent_sessions (root_id) where root_id is not null;

alter table agent_events add column copied boolean not null default false;

-- What somebody shows to whoever has the link: the words as they were then. Later ones are not in it.
create table conversation_shares (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  session_id text not null,
  token_hash text not null unique,
  title text not null,
  agent_name text not null,
  -- [{role, text, at, model}]
  messages jsonb not null,
  created_at timestamptz not null
);
select own_by_user('conversation_shares');
create index conversation_shares_of on conversation_shares (agent_id, created_at desc);
