-- expand: new tables
-- What clients of Anthropic's Managed Agents keep beside an agent, and the sessions and environments that they name. What
-- is said in a session is in the agent's own log, under `conversation`.
create table managed_agents (
  agent_id text primary key references agents on delete cascade,
  user_id text not null references users on delete cascade,
  metadata jsonb not null,
  tools jsonb not null,
  archived_at timestamptz
);
select own_by_user('managed_agents');
create index managed_agents_user on managed_agents (user_id);

create table managed_environments (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  description text,
  metadata jsonb not null,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
select own_by_user('managed_environments');
create index managed_environments_user on managed_environments (user_id, created_at desc, id);
create trigger bounded before insert on managed_environments for each row
  execute function refuse_beyond('100', 'At most 100 environments');

create table managed_sessions (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  environment_id text not null,
  title text,
  metadata jsonb not null,
  conversation text,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
select own_by_user('managed_sessions');
create index managed_sessions_user on managed_sessions (user_id, created_at desc, id);
create index managed_sessions_agent on managed_sessions (agent_id);
create trigger bounded before insert on managed_sessions for each row
  execute function refuse_beyond('10000', 'At most 10,000 sessions');
