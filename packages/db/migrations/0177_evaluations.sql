-- expand: new tables, which processes of an older release leave alone
-- What an agent is tried with, and what is expected of it.
create table evaluation_cases (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  input text not null,
  checks jsonb not null,
  -- what tools answer that are not run in a trial: [{tool, result}]
  stubs jsonb not null default '[]',
  max_seconds integer not null check (max_seconds > 0),
  -- counts its changes: a result is of one revision
  revision integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index evaluation_cases_of on evaluation_cases (agent_id, created_at);
create index evaluation_cases_of_user on evaluation_cases (user_id);
select own_by_user('evaluation_cases');

-- All cases of an agent, tried on one definition.
create table evaluations (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  status text not null check (status in ('running', 'passed', 'failed', 'stopped')),
  definition jsonb not null,
  -- SHA-256 of the definition without its name, and of the cases with their revisions
  definition_digest text not null,
  cases_digest text not null,
  -- what was proposed; null: the agent as it was
  change jsonb,
  -- the change is made when all have passed
  takes boolean not null default false,
  taken_at timestamptz,
  -- why it was not taken
  not_taken text,
  max_cost_micros bigint not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index evaluations_of on evaluations (agent_id, created_at desc);
create index evaluations_of_user on evaluations (user_id);
create unique index evaluations_one_at_a_time on evaluations (agent_id) where status = 'running';
select own_by_user('evaluations');

create table evaluation_results (
  id text primary key,
  evaluation_id text not null references evaluations on delete cascade,
  user_id text not null references users on delete cascade,
  -- the case may be another one by now, or gone
  case_id text not null,
  name text not null,
  input text not null,
  checks jsonb not null,
  stubs jsonb not null,
  max_seconds integer not null,
  place integer not null,
  status text not null
    check (status in ('waiting', 'running', 'passed', 'failed', 'broken', 'interrupted', 'skipped')),
  -- [{passed, says}], one for each check
  verdicts jsonb not null default '[]',
  answer text,
  -- [{tool, args, isError, isRun}]
  calls jsonb not null default '[]',
  -- why there is no verdict
  error text,
  tokens integer not null default 0,
  cost_micros bigint not null default 0,
  ms integer not null default 0,
  started_at timestamptz,
  finished_at timestamptz
);
create index evaluation_results_of on evaluation_results (evaluation_id, place);
create index evaluation_results_of_user on evaluation_results (user_id);
select own_by_user('evaluation_results');

-- Agents whose changes are taken only when their cases pass.
create table evaluation_gates (
  agent_id text primary key references agents on delete cascade,
  user_id text not null references users on delete cascade
);
create index evaluation_gates_of_user on evaluation_gates (user_id);
select own_by_user('evaluation_gates');

create trigger tell_live after insert or update of status, taken_at, not_taken on evaluations
  for each row execute function tell_live('evaluations', 'user_id');
create trigger tell_live after update of status on evaluation_results
  for each row execute function tell_live('evaluations', 'user_id');
