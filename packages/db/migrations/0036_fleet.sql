-- How agents are run.
alter table agents
  -- the part of the configuration that is the agent's own; the rest is its user's default
  add column own_config jsonb not null default '{}',
  -- a row of the table of container sizes, where it is not the plan's
  add column size text;
create index agents_by_team on agents (team_id) where team_id is not null;

-- A team's document: what its agents were made from.
create table teams (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  template text,
  yaml text not null,
  created_at timestamptz not null
);
create index teams_of_user on teams (user_id, created_at desc);
select own_by_user('teams');

-- One action at a time for each agent. A row that outlives its lease was left by a process that died: it is done again.
create table agent_operations (
  agent_id text primary key,
  action text not null,
  owner text not null,
  lease_until timestamptz not null
);
select system_only('agent_operations');

-- Where the user's newest provisioned agent is reached.
alter table users
  add column instance_id text references agents on delete set null,
  add column instance_url text;
grant select (instance_id, instance_url) on users to svc_user;
