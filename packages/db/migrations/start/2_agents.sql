-- Agents, and what they are made of: rows. Nothing of an agent lives in a process while nobody talks to it.

create table agents (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  team_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  status text not null default 'pending'
    check (status in ('pending', 'provisioning', 'running', 'stopped', 'error', 'failed')),
  -- why the status is error or failed
  failure text,
  plan text not null default 'solo' check (plan in ('free', 'solo', 'collective', 'label', 'network')),
  tier text check (tier in ('starter', 'pro', 'enterprise')),
  model text not null default '',
  ai_provider text not null default 'openrouter',
  image text,
  runtime_version text,
  -- the gateway token: its hash to check it, sealed for the owner to read
  token_hash text unique,
  token_sealed bytea,
  verification_type text check (verification_type in ('eas', 'ens', 'webauthn', 'coinbase')),
  attestation_uid text,
  verifier_address text,
  verified_at timestamptz,
  verification_metadata jsonb,
  started_at timestamptz,
  -- the part of the configuration that is the agent's own; the rest is its user's default
  own_config jsonb not null default '{}',
  -- a row of the table of container sizes, where it is not the plan's
  size text,
  -- the owner's key at a provider, sealed: this agent thinks on that account instead of the platform's
  provider_key bytea,
  -- what runs the agent where it is not the platform's own driver
  driver text check (driver in ('hosting')),
  unique (id, user_id)
);
create index agents_by_user on agents (user_id, created_at);
create index agents_by_team on agents (team_id) where team_id is not null;
-- an agent's id is the first part of its host name, and in host names capitals make no difference
create unique index agents_host_name on agents (lower(id));
select own_by_user('agents');
create trigger tell_ended after update of token_hash on agents
  for each row when (old.token_hash is distinct from new.token_hash)
  execute function tell_credential_ended('owner');
create trigger tell_live_made after insert or delete on agents
  for each row execute function tell_live('agents', 'user_id');
create trigger tell_live after update of name, model, status, failure, team_id, verified_at on agents
  for each row when ((old.name, old.model, old.status, old.failure, old.team_id, old.verified_at)
    is distinct from (new.name, new.model, new.status, new.failure, new.team_id, new.verified_at))
  execute function tell_live('agents', 'user_id');
alter table users add foreign key (instance_id) references agents on delete set null;

-- A team's document: what its agents were made from.
create table teams (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  template text,
  yaml text not null,
  created_at timestamptz not null
);
create index teams_of_user on teams (user_id, created_at desc);
select own_by_user('teams');
create trigger bounded before insert on teams for each row
  execute function refuse_beyond('500', 'Too many teams (max 500)');

create table agent_definitions (
  agent_id text not null,
  user_id text not null,
  version integer not null,
  definition jsonb not null,
  created_at timestamptz not null default now(),
  primary key (agent_id, version),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
select own_by_user('agent_definitions');
create trigger prune_definitions after insert on agent_definitions for each row execute function prune_definitions();

create table agent_sessions (
  id text primary key,
  agent_id text not null,
  user_id text not null,
  channel text not null,
  key text not null,
  status text not null default 'idle' check (status in ('idle', 'open', 'waiting')),
  last_seq integer not null default 0,
  -- events up to this one are stood for by a summary
  compacted_to integer not null default 0,
  lease_owner text,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- the event with which the lease was taken: tells a delivery that took it from one that came while it was held
  lease_seq integer not null default 0,
  unique (agent_id, channel, key),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_sessions_open on agent_sessions (agent_id) where status = 'open';
create index agent_sessions_newest on agent_sessions (agent_id, updated_at desc);
select own_by_user('agent_sessions');
-- a call of a tool begins or ends to wait for its owner
create trigger tell_live after update of status on agent_sessions
  for each row when (old.status is distinct from new.status and 'waiting' in (old.status, new.status))
  execute function tell_live('inbox', 'user_id');

create table agent_events (
  session_id text not null references agent_sessions (id) on delete cascade,
  seq integer not null,
  agent_id text not null,
  user_id text not null,
  data jsonb not null,
  type text not null generated always as (data ->> 'type') stored,
  input_id text,
  at timestamptz not null default now(),
  primary key (session_id, seq)
);
create unique index agent_events_input on agent_events (session_id, input_id) where input_id is not null;
create index agent_events_by_type on agent_events (agent_id, type, at)
  where type in ('user', 'assistant', 'run_ended', 'approval_requested');
select own_by_user('agent_events');

create table agent_days (
  agent_id text not null,
  user_id text not null,
  day date not null,
  tokens bigint not null,
  primary key (agent_id, day),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
select own_by_user('agent_days');

-- scope: `agent:<id>` or `team:<id>`. agent_id is null for a team's memory, which outlives its members.
create table agent_memory (
  id text primary key,
  user_id text not null,
  agent_id text,
  scope text not null,
  key text,
  content text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  search tsvector not null generated always as (memory_words(coalesce(key, '') || ' ' || content)) stored,
  unique (user_id, scope, key),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_memory_newest on agent_memory (scope, updated_at desc);
create index agent_memory_search on agent_memory using gin (search);
select own_by_user('agent_memory');

create table agent_todos (
  id bigint generated always as identity primary key,
  user_id text not null,
  agent_id text,
  scope text not null,
  number integer not null,
  description text not null,
  status text not null default 'pending' check (status in ('pending', 'in-progress', 'completed')),
  unique (user_id, scope, number),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
select own_by_user('agent_todos');

create table agent_logs (
  id bigint generated always as identity primary key,
  agent_id text not null,
  user_id text not null,
  level text not null check (level in ('debug', 'info', 'warn', 'error')),
  message text not null,
  source text not null,
  at timestamptz not null default now(),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_logs_newest on agent_logs (agent_id, id desc);
select own_by_user('agent_logs');

-- A messaging channel: its sealed token, and how far it was read.
create table agent_channels (
  agent_id text not null,
  user_id text not null,
  channel text not null,
  sealed bytea,
  state jsonb not null default '{}',
  primary key (agent_id, channel),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
select own_by_user('agent_channels');

-- One action at a time for each agent. A row that outlives its lease was left by a process that died: it is done again.
create table agent_operations (
  agent_id text primary key,
  action text not null,
  owner text not null,
  lease_until timestamptz not null
);
select system_only('agent_operations');

-- Copies of an agent's data. The files lie in DATA_DIR/backups/<agent>/<id>.tar.gz.
create table agent_backups (
  id text primary key,
  agent_id text not null,
  user_id text not null,
  created_at timestamptz not null,
  reason text not null check (reason in ('manual', 'update', 'restore')),
  -- what wrote the file and can read it
  driver text not null,
  image text not null,
  version text not null,
  size bigint not null,
  sha256 text not null,
  -- name, own configuration, model and definition at that time
  settings jsonb not null,
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_backups_newest on agent_backups (agent_id, created_at desc);
select own_by_user('agent_backups');

-- Whose messages an agent takes beside those of its owner's own agents. Without a row: nobody's.
create table agent_doors (
  agent_id text primary key references agents on delete cascade,
  user_id text not null references users on delete cascade,
  open boolean not null default false,
  -- agents that may write although the door is closed
  contacts text[] not null default '{}',
  messages_per_day integer not null check (messages_per_day >= 0),
  messages_per_sender integer not null check (messages_per_sender >= 0),
  updated_at timestamptz not null
);
select own_by_user('agent_doors');

-- What others have sent an agent on a day, by the sender's owner; '' is the sum of all.
create table agent_door_days (
  agent_id text not null references agents on delete cascade,
  user_id text not null references users on delete cascade,
  day date not null,
  sender text not null,
  messages integer not null,
  primary key (agent_id, day, sender)
);
select own_by_user('agent_door_days');

-- A ticket opens one WebSocket: the hashes of those that did, until they would have ended anyway.
create table used_tickets (
  hash text primary key,
  expires_at timestamptz not null
);
create index used_tickets_by_end on used_tickets (expires_at);
select system_only('used_tickets');
