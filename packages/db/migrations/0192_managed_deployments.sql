-- expand: new tables, and columns that may be null
-- A deployment is a scheduled task that begins a session each time; its schedule, prompt and receipts are the task's.
create table managed_deployments (
  task_id text primary key references scheduled_tasks on delete cascade,
  user_id text not null references users on delete cascade,
  environment_id text not null,
  metadata jsonb not null,
  archived_at timestamptz
);
select own_by_user('managed_deployments');
create index managed_deployments_user on managed_deployments (user_id);

-- What came of a receipt: a session, or a kind of error.
create table managed_deployment_runs (
  run_id text primary key references task_runs on delete cascade,
  user_id text not null references users on delete cascade,
  session_id text,
  error text
);
select own_by_user('managed_deployment_runs');
create index managed_deployment_runs_user on managed_deployment_runs (user_id);

alter table managed_sessions add column deployment_id text;
