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

-- An endpoint that takes nothing for so long is told nothing more until it does.
create function tell_webhooks(p_user text, p_type text, p_data jsonb) returns void language plpgsql as $$
begin
  insert into webhook_deliveries (id, endpoint_id, user_id, type, data, at)
    select 'msg_' || replace(gen_random_uuid()::text, '-', ''), e.id, e.user_id, p_type, p_data, now()
    from webhook_endpoints e
    where e.user_id = p_user and e.enabled and p_type = any (e.events)
      and (select count(*) from (
        select from webhook_deliveries d where d.endpoint_id = e.id and d.status = 'pending' limit 1000) waiting) < 1000;
  if found then perform pg_notify('webhooks', ''); end if;
end $$;

create function tell_webhooks_of_run() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.user_id,
    case new.type when 'run_ended' then 'run.finished' else 'approval.waiting' end,
    jsonb_strip_nulls(jsonb_build_object('id', new.session_id || ':' || new.seq, 'agentId', new.agent_id,
      'sessionId', new.session_id, 'outcome', new.data ->> 'outcome', 'approvalId', new.data ->> 'approvalId',
      'tool', new.data ->> 'tool')));
  return null;
end $$;
create trigger tell_webhooks after insert on agent_events
  for each row when (new.data ->> 'type' in ('run_ended', 'approval_requested')) execute function tell_webhooks_of_run();

create function tell_webhooks_of_task() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.user_id, 'task.' || new.status,
    jsonb_build_object('id', new.id, 'taskId', new.task_id, 'dueAt', new.due_at, 'status', new.status));
  return null;
end $$;
create trigger tell_webhooks after insert or update of status on task_runs
  for each row when (new.status in ('succeeded', 'failed')) execute function tell_webhooks_of_task();

create function tell_webhooks_of_payment() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.user_id, 'payment.' || case new.status when 'approval' then 'waiting' else new.status end,
    jsonb_build_object('id', new.id, 'agentId', new.agent_id, 'units', new.units::text, 'currency', new.currency,
      'recipient', new.recipient));
  return null;
end $$;
create trigger tell_webhooks after insert or update of status on agent_payments
  for each row when (new.status in ('approval', 'paid', 'failed')) execute function tell_webhooks_of_payment();

create function tell_webhooks_of_notice() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.user_id, 'notice.raised',
    jsonb_build_object('id', new.id::text, 'kind', new.kind, 'subject', new.subject));
  return null;
end $$;
create trigger tell_webhooks after insert on notices for each row execute function tell_webhooks_of_notice();
