-- A message to an agent in one round trip: it is stored, the session is claimed, and whoever claimed it gets all that the
-- first model call needs, memories included. Events of a session are numbered without gaps, so the first number is enough.
-- Plans are kept for as long as a connection lives: one that was made while the tables were small must not scan them later.

drop function agent_deliver;
drop function agent_claim;
drop function agent_append;

-- What the holder of a lease works with. `p_words`: a search in the memory that the newest definition says.
create function agent_work(
  s agent_sessions, p_day date, p_words text, p_team_scope text, p_recalled integer, p_now timestamptz
) returns json
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  d agent_definitions;
  events json;
  times json;
  memories json;
begin
  select * into d from agent_definitions where agent_id = s.agent_id order by version desc limit 1;
  select json_agg(data), json_agg(at) into events, times from (
    select e.data, e.at from agent_events e where e.session_id = s.id and e.seq > s.compacted_to order by e.seq) e;
  if p_words <> '' and d.definition -> 'tools' ? 'memory' then
    select coalesce(json_agg(json_build_object('key', key, 'content', content)), '[]') into memories from (
      select m.key, m.content from agent_memory m, to_tsquery('simple', p_words) as wanted
      where m.scope = case when (d.definition ->> 'memoryShared')::boolean and d.definition ? 'team'
          then p_team_scope else 'agent:' || s.agent_id end
        and m.expires_at > p_now and m.search @@ wanted
      order by ts_rank(m.search, wanted) desc, m.updated_at desc, m.id limit p_recalled) m;
  end if;
  return json_build_object('version', d.version, 'definition', d.definition, 'first', s.compacted_to + 1,
    'tokensToday', coalesce((select tokens from agent_days where agent_id = s.agent_id and day = p_day), 0),
    'events', coalesce(events, '[]'), 'times', coalesce(times, '[]'), 'memories', memories);
end $$;

-- Takes the lease of a session; null: another holds it.
create function agent_claim(p_agent text, p_session text, p_owner text, p_ttl_ms integer, p_day date) returns json
  language plpgsql set enable_seqscan = off as $$
declare
  s agent_sessions;
begin
  update agent_sessions
    set lease_owner = p_owner, lease_until = clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0)
    where id = p_session and agent_id = p_agent and (lease_owner is null or lease_until < clock_timestamp())
      and exists (select from agent_definitions where agent_id = p_agent)
    returning * into s;
  if not found then return null; end if;
  return json_build_object('session', agent_session_json(s), 'work', agent_work(s, p_day, '', '', 0, now()));
end $$;

-- Adds from outside, whoever works on the session, and claims it too when it is free.
create function agent_deliver(
  p_agent text, p_user text, p_session text, p_channel text, p_key text, p_new_id text, p_events jsonb,
  p_input text, p_status text, p_owner text, p_ttl_ms integer, p_day date,
  p_words text, p_team_scope text, p_recalled integer, p_now timestamptz
) returns json
  language plpgsql set enable_seqscan = off as $$
declare
  s agent_sessions;
  stored integer;
  known integer;
  claims boolean;
begin
  if p_session is null then
    select * into s from agent_sessions where agent_id = p_agent and channel = p_channel and key = p_key for update;
    if not found then
      insert into agent_sessions (id, agent_id, user_id, channel, key)
        values (p_new_id, p_agent, p_user, p_channel, p_key) on conflict (agent_id, channel, key) do nothing
        returning * into s;
      if not found then
        select * into s from agent_sessions
          where agent_id = p_agent and channel = p_channel and key = p_key for update;
      end if;
    end if;
  else
    select * into s from agent_sessions where id = p_session and agent_id = p_agent for update;
  end if;
  if s.id is null then return null; end if;
  if p_input is not null then
    select seq into known from agent_events where session_id = s.id and input_id = p_input;
  end if;
  claims := p_owner is not null and (s.lease_owner is null or s.lease_until < clock_timestamp())
    and (case when known is null then coalesce(p_status, s.status) else s.status end) = 'open'
    and exists (select from agent_definitions where agent_id = p_agent);
  stored := case when known is null then agent_store_events(s, p_events, p_input) else s.last_seq end;
  if known is null or claims then
    update agent_sessions set
      last_seq = stored,
      status = case when known is null then coalesce(p_status, status) else status end,
      updated_at = case when known is null then now() else updated_at end,
      lease_owner = case when claims then p_owner else lease_owner end,
      lease_until = case when claims
        then clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0) else lease_until end
      where id = s.id returning * into s;
  end if;
  return json_build_object('session', agent_session_json(s), 'seq', coalesce(known, stored),
    'duplicate', known is not null,
    'work', case when claims then agent_work(s, p_day, p_words, p_team_scope, p_recalled, p_now) end);
end $$;

-- Adds by the holder of the lease and answers the last number and the newest version of the definition.
-- -1: there are newer events than it knows; -2: the lease is another's.
create function agent_append(
  p_session text, p_owner text, p_expected integer, p_events jsonb, p_status text, p_release boolean,
  p_tokens bigint, p_day date
) returns integer[]
  language plpgsql set enable_seqscan = off as $$
declare
  s agent_sessions;
  stored integer;
begin
  select * into s from agent_sessions where id = p_session for update;
  if not found or s.lease_owner is distinct from p_owner then return array[-2, 0]; end if;
  if s.last_seq <> p_expected then return array[-1, 0]; end if;
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
  return array[stored, case when p_release then 0
    else coalesce((select max(version) from agent_definitions where agent_id = s.agent_id), 0) end];
end $$;
