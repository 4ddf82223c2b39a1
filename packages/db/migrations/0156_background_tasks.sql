-- expand: a new table, which processes of an older release leave alone
-- Work that an agent gave a member of its team and does not wait for. Its row comes before it begins; its end is stored here
-- before the conversation that it came from is told, and `settled` after.
create table agent_background (
  -- of the call that began it
  id text primary key,
  -- the lead
  agent_id text not null,
  user_id text not null,
  session_id text not null references agent_sessions (id) on delete cascade,
  -- the input that began the lead's run
  run_seq integer not null,
  member_id text not null,
  member text not null,
  task text not null,
  -- what the lead's run had left
  limits jsonb not null,
  -- how many tasks in the background stand above it, itself counted
  depth integer not null,
  status text not null default 'running' check (status in ('running', 'done', 'failed', 'stopped')),
  result text not null default '',
  spent jsonb,
  -- the member's conversation, once it has the task
  member_session text,
  -- its end is told to the lead
  tells boolean not null default true,
  -- nothing is left to be done about it
  settled boolean not null default false,
  lease_owner text,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_background_of_agent on agent_background (agent_id, user_id, created_at desc);
create index agent_background_of_session on agent_background (session_id);
create index agent_background_open on agent_background (agent_id) where not settled;
create index agent_background_running on agent_background (user_id) where status = 'running';
select own_by_user('agent_background');
