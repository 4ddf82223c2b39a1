-- expand: tables and triggers for push messages
-- The platform's own key pair at push services (RFC 8292), made when it is first asked for: one, whoever makes it.
create table push_keys (
  id boolean primary key default true check (id),
  -- as browsers take it: a point of P-256, not compressed
  public_key bytea not null,
  -- sealed
  private_key bytea not null,
  created_at timestamptz not null
);
select system_only('push_keys');

-- Browsers that their owner wants to be told by (RFC 8030). Keys are the browser's: only it can read what is sent.
create table push_subscriptions (
  id text primary key,
  user_id text not null references users on delete cascade,
  endpoint text not null,
  p256dh bytea not null,
  auth bytea not null,
  name text not null,
  created_at timestamptz not null,
  told_at timestamptz,
  -- one after the other, without one that was taken in between
  failures integer not null default 0,
  unique (user_id, endpoint)
);
create index push_subscriptions_by_endpoint on push_subscriptions (endpoint);
select own_by_user('push_subscriptions');

-- What is to be told, written down by the tables where it happens, in the same transaction. queued_at null: nobody has
-- taken it up yet.
create table push_messages (
  id text primary key,
  user_id text not null references users on delete cascade,
  kind text not null,
  data jsonb not null,
  at timestamptz not null,
  queued_at timestamptz
);
create index push_messages_of_user on push_messages (user_id);
create index push_messages_new on push_messages (at) where queued_at is null;
create index push_messages_by_time on push_messages (at);
select own_by_user('push_messages');

create trigger tell_push after insert on agent_events
  for each row when (new.data ->> 'type' = 'approval_requested') execute function tell_push_of_approval();
create trigger tell_push after insert or update of status on task_runs
  for each row when (new.status in ('succeeded', 'failed')) execute function tell_push_of_task();
create trigger tell_push after insert or update of status on agent_payments
  for each row when (new.status = 'approval') execute function tell_push_of_payment();
