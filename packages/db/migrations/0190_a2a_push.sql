-- expand: tables and a trigger for push notifications of A2A
-- Where those who gave an agent a task want to be told of it, and what has to be told. A task is a message of a session.
create table a2a_push_configs (
  session_id text not null references agent_sessions on delete cascade,
  seq integer not null,
  id text not null,
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  -- of the protocol that it is told in
  version text not null check (version in ('1.0', '0.3')),
  url text not null,
  -- the token and the credentials
  sealed bytea not null,
  created_at timestamptz not null,
  -- the task came to its end, and that was told or given up
  ended_at timestamptz,
  primary key (session_id, seq, id)
);
select own_by_user('a2a_push_configs');
create index a2a_push_configs_user on a2a_push_configs (user_id);
create index a2a_push_configs_agent on a2a_push_configs (agent_id);
create index a2a_push_configs_ended on a2a_push_configs (ended_at) where ended_at is not null;
create trigger bounded before insert on a2a_push_configs for each row
  execute function refuse_beyond('10000', 'At most 10,000 push notification configs');

-- queued_at null: nobody has taken it up yet. What was told is gone.
create table a2a_push_deliveries (
  id text primary key default gen_random_uuid()::text,
  session_id text not null,
  seq integer not null,
  config_id text not null,
  user_id text not null references users on delete cascade,
  at timestamptz not null default now(),
  queued_at timestamptz,
  foreign key (session_id, seq, config_id) references a2a_push_configs on delete cascade
);
select own_by_user('a2a_push_deliveries');
create index a2a_push_deliveries_user on a2a_push_deliveries (user_id);
create index a2a_push_deliveries_config on a2a_push_deliveries (session_id, seq, config_id);
create index a2a_push_deliveries_new on a2a_push_deliveries (id) where queued_at is null;

create trigger tell_a2a_push after insert on agent_events
  for each row when (new.type in ('run_ended', 'approval_requested')) execute function tell_a2a_push();
