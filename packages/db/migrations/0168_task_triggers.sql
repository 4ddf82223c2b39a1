-- expand: new tables, columns with a default, a wider check
-- What starts a task beside its schedule: a webhook, a file, a mail, the result of another task.
create table task_triggers (
  id text primary key,
  task_id text not null references scheduled_tasks on delete cascade,
  user_id text not null references users on delete cascade,
  -- the task's
  agent_id text not null,
  kind text not null check (kind in ('webhook', 'file', 'email', 'task')),
  enabled boolean not null default true,
  -- file: which ones
  pattern text,
  -- email: whose, as an address or @domain; null: everybody's who may write
  sender text,
  -- task: whose result, and which
  after_task text references scheduled_tasks on delete cascade,
  outcome text check (outcome in ('succeeded', 'failed', 'any')),
  -- webhook: sealed; the one before counts, too, until then
  secret bytea,
  old_secret bytea,
  old_secret_until timestamptz,
  -- file: what was there at the last look, by path
  seen jsonb,
  seen_at timestamptz,
  look_at timestamptz,
  problem text,
  last_at timestamptz,
  created_at timestamptz not null
);
create index task_triggers_of_task on task_triggers (task_id);
create index task_triggers_of_user on task_triggers (user_id);
create index task_triggers_of_agent on task_triggers (agent_id) where kind = 'email';
create index task_triggers_after on task_triggers (after_task) where after_task is not null;
create index task_triggers_look on task_triggers (look_at) where kind = 'file' and enabled;
select own_by_user('task_triggers');

-- What was delivered under which id: the same twice runs once.
create table task_deliveries (
  task_id text not null references scheduled_tasks on delete cascade,
  -- the trigger, or empty: through the API
  trigger_id text not null,
  id text not null,
  user_id text not null references users on delete cascade,
  run_id text not null,
  at timestamptz not null,
  primary key (task_id, trigger_id, id)
);
create index task_deliveries_of_user on task_deliveries (user_id);
create index task_deliveries_at on task_deliveries (at);
select own_by_user('task_deliveries');

-- A receipt is there as soon as something arrived, and waits for its turn.
alter table task_runs
  add column source text not null default 'schedule'
    check (source in ('schedule', 'webhook', 'api', 'file', 'email', 'task')),
  add column trigger_id text,
  add column input text,
  -- how many tasks started each other before it
  add column depth integer not null default 0,
  -- how often a process ended over it
  add column tries integer not null default 0;
alter table task_runs drop constraint task_runs_status_check;
alter table task_runs add constraint task_runs_status_check
  check (status in ('waiting', 'running', 'succeeded', 'failed', 'skipped'));
-- much may arrive in one moment
alter table task_runs drop constraint task_runs_task_id_due_at_key;
create index task_runs_waiting on task_runs (user_id, task_id, due_at) where status = 'waiting';

create trigger result_arrived after update of status on task_runs
  for each row when (old.status is distinct from new.status and new.status in ('succeeded', 'failed'))
  execute function task_result_arrived();
create trigger mail_arrived after insert on agent_channel_messages
  for each row when (new.channel = 'email' and new.state = 'waiting') execute function task_mail_arrived();
