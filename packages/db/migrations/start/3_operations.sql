-- What keeps agents running: configuration, devices, schedules, heartbeats, installations.

-- `installation` is the owner of what belongs to nobody in particular, so there is no reference to users.
create table agent_configs (
  user_id text primary key,
  config jsonb not null,
  updated_at timestamptz not null
);
select own_by_user('agent_configs');

create table config_backups (
  id text primary key,
  number bigint generated always as identity,
  user_id text not null,
  config jsonb not null,
  created_at timestamptz not null
);
create index config_backups_of_user on config_backups (user_id, number desc);
select own_by_user('config_backups');

create table devices (
  id text primary key,
  user_id text not null,
  agent_id text references agents on delete cascade,
  name text not null,
  ip text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied', 'revoked')),
  secret_hash text not null,
  -- the token that opens the agent's gateway while the device is approved
  token_hash text unique,
  token_sealed bytea,
  first_seen timestamptz not null,
  last_seen timestamptz not null
);
create index devices_of_user on devices (user_id, first_seen desc);
select own_by_user('devices');
create trigger prune_devices after insert on devices for each row execute function prune_devices();
create trigger tell_ended after update of token_hash on devices
  for each row when (old.token_hash is not null and old.token_hash is distinct from new.token_hash)
  execute function tell_credential_ended('device');
create trigger tell_gone after delete on devices
  for each row when (old.token_hash is not null) execute function tell_credential_ended('device');
create trigger tell_live after insert or delete or update of status on devices
  for each row execute function tell_live('devices', 'user_id');

-- the three above have no reference to users
create trigger forget_user after delete on users for each row execute function forget_user();

create table scheduled_tasks (
  id text primary key,
  user_id text not null references users on delete cascade,
  -- kept when the agent goes, so that the receipts say why nothing ran
  agent_id text not null,
  name text not null,
  description text,
  cron_schedule text not null,
  timezone text not null default 'UTC',
  prompt text not null,
  enabled boolean not null default true,
  last_run timestamptz,
  next_run timestamptz,
  failures_in_row integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index scheduled_tasks_of_user on scheduled_tasks (user_id, created_at desc);
-- due tasks are taken in turns of their users: who has something due, and what is oldest of each
create index scheduled_tasks_due_of on scheduled_tasks (next_run, user_id) where enabled and next_run is not null;
create index scheduled_tasks_turns on scheduled_tasks (user_id, next_run) where enabled and next_run is not null;
select own_by_user('scheduled_tasks');

-- One receipt for each due occurrence.
create table task_runs (
  id text primary key,
  task_id text not null references scheduled_tasks on delete cascade,
  user_id text not null references users on delete cascade,
  due_at timestamptz not null,
  -- how many occurrences it stands for: those missed while nothing ran, or closer together than a poll
  occurrences integer not null default 1,
  status text not null check (status in ('running', 'succeeded', 'failed', 'skipped')),
  started_at timestamptz not null,
  finished_at timestamptz,
  output text,
  error text,
  -- until then the process that took it is believed to be alive
  lease_until timestamptz,
  unique (task_id, due_at)
);
create index task_runs_of_task on task_runs (task_id, due_at desc);
create index task_runs_of_user on task_runs (user_id, started_at);
create index task_runs_under_way on task_runs (user_id) where status = 'running';
create index task_runs_running on task_runs (lease_until) where status = 'running';
select own_by_user('task_runs');
create trigger prune_task_runs after insert on task_runs for each row execute function prune_task_runs();

create table heartbeats (
  agent_id text primary key references agents on delete cascade,
  user_id text not null references users on delete cascade,
  frequency text not null,
  seconds integer not null check (seconds > 0),
  enabled boolean not null,
  last_heartbeat timestamptz,
  next_heartbeat timestamptz
);
create index heartbeats_due on heartbeats (next_heartbeat) where enabled;
select own_by_user('heartbeats');

create table installations (
  user_id text primary key,
  mode text not null check (mode in ('home', 'link', 'cloud')),
  gateway_token_sealed bytea,
  registered_at timestamptz not null,
  last_seen timestamptz not null,
  -- the notice about its silence was raised
  quiet boolean not null default false
);
create index installations_by_silence on installations (last_seen) where not quiet;
select own_by_user('installations');
