-- What AI calls and tools were used and cost, how much may be spent, and what is set aside for calls under way. user_id of
-- usage references nobody: the public demo and the platform's own calls have no account, and a user that is deleted
-- meanwhile must not make a whole batch of others' rows fail.

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
  created_at timestamptz not null,
  -- of the input, what came from the provider's cache; of the output, what was thought and not said
  cached_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0
);
-- the last day's calls, for the brief: rows come in the order of time, so a few bytes for each stretch of the table do
create index usage_logs_by_time on usage_logs using brin (created_at) with (pages_per_range = 32, autosummarize = on);
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
  -- rows of one user are spread over all pages of the table: with the sums beside the key, the index alone answers
  primary key (user_id, day, agent_id, model, provider) include (calls, input_tokens, output_tokens, cost_micros)
)
-- only pages that were vacuumed can be passed over: do it after 1 % of new rows, not after 20 %
with (autovacuum_vacuum_insert_scale_factor = 0.01);
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

create table spend_caps (
  user_id text not null references users on delete cascade,
  scope text not null check (scope in ('user', 'agent', 'run')),
  -- the agent's id, or * for each agent or run; empty for the user
  scope_id text not null,
  period text not null check (period in ('day', 'month', 'total')),
  limit_micros bigint not null check (limit_micros >= 0),
  updated_at timestamptz not null,
  primary key (user_id, scope, scope_id)
);
select own_by_user('spend_caps');

create table spend_counters (
  user_id text not null,
  scope text not null check (scope in ('user', 'agent', 'run', 'tokens', 'credits')),
  scope_id text not null,
  -- when the window began; the epoch for a total
  since timestamptz not null,
  used bigint not null,
  reserved bigint not null,
  primary key (user_id, scope, scope_id, since)
);
select own_by_user('spend_counters');
revoke insert, update, delete on spend_counters from svc_user;

create table spend_reservations (
  id text primary key,
  user_id text not null,
  tokens bigint not null,
  micros bigint not null,
  -- the counters that it was set aside in: [{scope, scopeId, since}]
  counters jsonb not null,
  expires_at timestamptz not null
);
create index spend_reservations_of_user on spend_reservations (user_id, expires_at);
select system_only('spend_reservations');
