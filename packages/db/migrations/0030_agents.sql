-- An agent is rows: nothing of it lives in a process while nobody talks to it.
create table agents (
  id text primary key,
  user_id text not null,
  name text not null,
  team_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (id, user_id)
);
create index agents_by_user on agents (user_id, created_at);
select own_by_user('agents');

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

create table agent_sessions (
  id text primary key,
  agent_id text not null,
  user_id text not null,
  channel text not null,
  key text not null,
  status text not null default 'idle' check (status in ('idle', 'open', 'waiting')),
  last_seq integer not null default 0,
  -- Events up to this one are stood for by a summary.
  compacted_to integer not null default 0,
  lease_owner text,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (agent_id, channel, key),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_sessions_open on agent_sessions (agent_id) where status = 'open';
create index agent_sessions_newest on agent_sessions (agent_id, updated_at desc);
select own_by_user('agent_sessions');

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
  search tsvector not null generated always as (to_tsvector('simple', coalesce(key, '') || ' ' || content)) stored,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
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

create function iso_text(at timestamptz) returns text
  language sql immutable parallel safe
  return to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create function agent_session_json(s agent_sessions) returns jsonb
  language sql stable
  return jsonb_build_object('id', s.id, 'channel', s.channel, 'key', s.key, 'status', s.status, 'lastSeq', s.last_seq,
    'createdAt', iso_text(s.created_at), 'updatedAt', iso_text(s.updated_at));

create function agent_event_json(e agent_events) returns jsonb
  language sql stable
  return e.data || jsonb_build_object('seq', e.seq, 'at', iso_text(e.at));

-- Takes the lease of a session and answers all that work on it needs, in one round trip; null: another holds it.
create function agent_claim(p_agent text, p_session text, p_owner text, p_ttl_ms integer, p_day date) returns jsonb
  language plpgsql as $$
declare
  s agent_sessions;
  d agent_definitions;
begin
  select * into d from agent_definitions where agent_id = p_agent order by version desc limit 1;
  if not found then return null; end if;
  update agent_sessions
    set lease_owner = p_owner, lease_until = clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0)
    where id = p_session and agent_id = p_agent and (lease_owner is null or lease_until < clock_timestamp())
    returning * into s;
  if not found then return null; end if;
  return jsonb_build_object(
    'session', agent_session_json(s),
    'version', d.version,
    'definition', d.definition,
    'tokensToday', coalesce((select tokens from agent_days where agent_id = p_agent and day = p_day), 0),
    'events', coalesce((select jsonb_agg(agent_event_json(e) order by e.seq) from agent_events e
      where e.session_id = s.id and e.seq > s.compacted_to), '[]'));
end $$;

create function agent_store_events(s agent_sessions, p_events jsonb, p_input text) returns integer
  language plpgsql as $$
declare
  total integer := jsonb_array_length(p_events);
begin
  insert into agent_events (session_id, seq, agent_id, user_id, data, input_id)
    select s.id, s.last_seq + n, s.agent_id, s.user_id, value, case when n = total then p_input end
    from jsonb_array_elements(p_events) with ordinality as given (value, n);
  return s.last_seq + total;
end $$;

-- Adds from outside, whoever works on the session, and claims it too when it is free.
create function agent_deliver(
  p_agent text, p_user text, p_session text, p_channel text, p_key text, p_new_id text, p_events jsonb,
  p_input text, p_status text, p_owner text, p_ttl_ms integer, p_day date
) returns jsonb
  language plpgsql as $$
declare
  s agent_sessions;
  stored integer;
  known integer;
begin
  if p_session is null then
    insert into agent_sessions (id, agent_id, user_id, channel, key)
      values (p_new_id, p_agent, p_user, p_channel, p_key) on conflict (agent_id, channel, key) do nothing;
    select * into s from agent_sessions where agent_id = p_agent and channel = p_channel and key = p_key for update;
  else
    select * into s from agent_sessions where id = p_session and agent_id = p_agent for update;
  end if;
  if not found then return null; end if;
  select seq into known from agent_events where session_id = s.id and input_id = p_input;
  if known is null then
    stored := agent_store_events(s, p_events, p_input);
    update agent_sessions set last_seq = stored, status = coalesce(p_status, status), updated_at = now()
      where id = s.id returning * into s;
  end if;
  return jsonb_build_object(
    'session', agent_session_json(s),
    'seq', coalesce(known, stored),
    'duplicate', known is not null,
    'claimed', case when s.status = 'open' and p_owner is not null
      then agent_claim(p_agent, s.id, p_owner, p_ttl_ms, p_day) end);
end $$;

-- Adds by the holder of the lease. -1: there are newer events than it knows; -2: the lease is another's.
create function agent_append(
  p_session text, p_owner text, p_expected integer, p_events jsonb, p_status text, p_release boolean,
  p_tokens bigint, p_day date
) returns integer
  language plpgsql as $$
declare
  s agent_sessions;
  stored integer;
begin
  select * into s from agent_sessions where id = p_session for update;
  if not found or s.lease_owner is distinct from p_owner then return -2; end if;
  if s.last_seq <> p_expected then return -1; end if;
  stored := agent_store_events(s, p_events, null);
  update agent_sessions set
    last_seq = stored,
    status = coalesce(p_status, status),
    lease_owner = case when p_release then null else lease_owner end,
    compacted_to = greatest(compacted_to, (select max((value ->> 'upTo')::integer)
      from jsonb_array_elements(p_events) where value ->> 'type' = 'compaction')),
    updated_at = now()
    where id = s.id;
  if p_tokens > 0 then
    insert into agent_days (agent_id, user_id, day, tokens) values (s.agent_id, s.user_id, p_day, p_tokens)
      on conflict (agent_id, day) do update set tokens = agent_days.tokens + excluded.tokens;
  end if;
  return stored;
end $$;

-- Decides an approval once; null: there is none, empty: it was decided before.
create function agent_decide(p_agent text, p_approval text, p_approved boolean, p_by text) returns text
  language plpgsql as $$
declare
  asked agent_events;
  s agent_sessions;
begin
  select * into asked from agent_events
    where agent_id = p_agent and type = 'approval_requested' and data ->> 'approvalId' = p_approval;
  if not found then return null; end if;
  select * into s from agent_sessions where id = asked.session_id for update;
  if exists (select from agent_events e where e.session_id = s.id and e.seq > asked.seq
      and (e.type = 'run_ended' or (e.type = 'approval_decided' and e.data ->> 'approvalId' = p_approval))) then
    return '';
  end if;
  perform agent_store_events(s, jsonb_build_array(jsonb_build_object('type', 'approval_decided',
    'approvalId', p_approval, 'callId', asked.data ->> 'callId', 'approved', p_approved, 'by', p_by)), null);
  update agent_sessions set last_seq = last_seq + 1, status = 'open', updated_at = now() where id = s.id;
  return s.id;
end $$;
