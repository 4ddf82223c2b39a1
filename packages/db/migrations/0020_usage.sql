-- What AI calls and tools were used and cost. user_id references nobody: the public demo and the platform's own calls
-- have no account, and a user that is deleted meanwhile must not make a whole batch of others' rows fail.

create table usage_logs (
  id bigint generated always as identity primary key,
  user_id text not null,
  -- empty: called without an agent
  agent_id text not null,
  run_id text,
  model text not null,
  provider text not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  -- millionths of a US dollar, by the rates at the time
  cost_micros bigint not null,
  latency_ms integer not null,
  success boolean not null,
  -- the provider did not count the tokens
  estimated boolean not null,
  created_at timestamptz not null
);
select own_by_user('usage_logs');
revoke insert, update, delete on usage_logs from svc_user;

-- What every question about usage is answered from; written together with the log. The day is UTC's.
create table usage_daily (
  user_id text not null,
  day date not null,
  agent_id text not null,
  model text not null,
  provider text not null,
  calls bigint not null,
  failures bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_micros bigint not null,
  latency_ms bigint not null,
  primary key (user_id, day, agent_id, model, provider)
);
select own_by_user('usage_daily');
revoke insert, update, delete on usage_daily from svc_user;

create table usage_tools_daily (
  user_id text not null,
  day date not null,
  agent_id text not null,
  tool_name text not null,
  calls bigint not null,
  successes bigint not null,
  duration_ms bigint not null,
  primary key (user_id, day, agent_id, tool_name)
);
select own_by_user('usage_tools_daily');
revoke insert, update, delete on usage_tools_daily from svc_user;

-- Batches that were written, for an hour: one whose confirmation was lost is sent again and must not count twice.
create table usage_batches (
  id text primary key,
  created_at timestamptz not null
);
select system_only('usage_batches');
