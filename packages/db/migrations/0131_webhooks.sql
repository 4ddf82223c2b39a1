-- expand: tables and triggers for webhooks
-- Where owners want to be told what happens (Standard Webhooks), and what was told. What happens is written down by the
-- tables where it happens, in the same transaction: nothing is told that did not happen, and nothing is forgotten.
create table webhook_endpoints (
  id text primary key,
  user_id text not null references users on delete cascade,
  url text not null,
  events text[] not null,
  enabled boolean not null default true,
  -- sealed; the one before signs, too, until then
  secret bytea not null,
  old_secret bytea,
  old_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhook_endpoints_of_user on webhook_endpoints (user_id);
select own_by_user('webhook_endpoints');

-- queued_at null: nobody has taken it up yet.
create table webhook_deliveries (
  id text primary key,
  endpoint_id text not null references webhook_endpoints on delete cascade,
  user_id text not null references users on delete cascade,
  type text not null,
  data jsonb not null,
  at timestamptz not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  answered integer,
  problem text,
  queued_at timestamptz,
  ended_at timestamptz
);
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, at desc, id);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id) where status = 'pending';
create index webhook_deliveries_new on webhook_deliveries (user_id) where queued_at is null;
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
select own_by_user('webhook_deliveries');

create trigger tell_webhooks after insert on agent_events
  for each row when (new.data ->> 'type' in ('run_ended', 'approval_requested')) execute function tell_webhooks_of_run();

create trigger tell_webhooks after insert or update of status on task_runs
  for each row when (new.status in ('succeeded', 'failed')) execute function tell_webhooks_of_task();

create trigger tell_webhooks after insert or update of status on agent_payments
  for each row when (new.status in ('approval', 'paid', 'failed')) execute function tell_webhooks_of_payment();

create trigger tell_webhooks after insert on notices for each row execute function tell_webhooks_of_notice();
