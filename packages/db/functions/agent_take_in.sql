-- Inputs for sessions named by channel and key, each session once. `p_version` is the definition that the caller has, and
-- `p_scope` the memory that it says, null: none. Answers null when there is no such agent.
-- What many conversations of one agent bring at once is stored together. All who write lock in one order: the agent, which
-- must not go meanwhile, then sessions by channel and key, then its day.
create or replace function agent_take_in(
  p_agent text, p_user text, p_given jsonb, p_day date, p_now timestamptz, p_version integer, p_scope text,
  p_team_scope text
) returns json
  language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set plan_cache_mode = force_generic_plan as $$
declare
  newest integer;
  changed jsonb;
  memory text := p_scope;
  sessions agent_sessions[];
  answer json;
begin
  perform from agents where id = p_agent for key share;
  if not found then return null; end if;
  select version into newest from agent_definitions where agent_id = p_agent order by version desc limit 1;
  if newest is distinct from p_version then
    select definition into changed from agent_definitions where agent_id = p_agent and version = newest;
    memory := case when changed -> 'tools' ? 'memory' then
      case when (changed ->> 'memoryShared')::boolean and changed ? 'team' then p_team_scope
        else 'agent:' || p_agent end end;
  end if;

  with given as (
    select * from jsonb_to_recordset(p_given)
      as g (id text, channel text, key text, events jsonb, status text, owner text, ttl integer)
  ), put as (
    insert into agent_sessions as s
      (id, agent_id, user_id, channel, key, status, last_seq, lease_owner, lease_until, lease_seq)
    select g.id, p_agent, p_user, g.channel, g.key, g.status, jsonb_array_length(g.events),
      case when newest is not null then g.owner end,
      clock_timestamp() + make_interval(secs => g.ttl / 1000.0), jsonb_array_length(g.events)
    from given g order by g.channel, g.key
    on conflict (agent_id, channel, key) do update set
      last_seq = s.last_seq + excluded.last_seq,
      status = excluded.status,
      updated_at = now(),
      lease_owner = case when s.lease_owner is null or s.lease_until < clock_timestamp()
        then excluded.lease_owner else s.lease_owner end,
      lease_until = case when s.lease_owner is null or s.lease_until < clock_timestamp()
        then excluded.lease_until else s.lease_until end,
      lease_seq = case when s.lease_owner is null or s.lease_until < clock_timestamp()
        then s.last_seq + excluded.last_seq else s.lease_seq end
    returning s
  ), stored as (
    insert into agent_events (session_id, seq, agent_id, user_id, data)
    select (p.s).id, (p.s).last_seq - jsonb_array_length(g.events) + e.n, p_agent, p_user, e.value
    from put p join given g on g.channel = (p.s).channel and g.key = (p.s).key,
      jsonb_array_elements(g.events) with ordinality as e (value, n)
  )
  select array_agg(p.s) into sessions from put p;
  perform agent_tell(array_agg(s.id), array_agg(s.last_seq)) from unnest(sessions) s;

  select json_agg(json_build_object(
      'n', g.n, 'id', s.id, 'channel', s.channel, 'key', s.key, 'status', s.status, 'lastSeq', s.last_seq,
      'createdAt', s.created_at, 'updatedAt', s.updated_at,
      'work', case when s.lease_seq = s.last_seq and s.lease_owner is not null then json_build_object(
        'first', s.compacted_to + 1,
        'log', (select json_agg(json_build_array(e.at, e.data)) from (
          select at, data from agent_events where session_id = s.id and seq > s.compacted_to order by seq) e),
        'memories', case when g.words <> '' and memory is not null then (
          select coalesce(json_agg(json_build_object('key', m.key, 'content', m.content)), '[]') from (
            select a.key, memory_said(a.content, a.source_session, a.created_at) as content
            from memory_search(memory, g.words, p_now, g.recalled) f
              join agent_memory a on a.id = f.id order by f.score desc, a.updated_at desc, a.id) m) end) end))
    into answer
    from jsonb_to_recordset(p_given) as g (n integer, channel text, key text, words text, recalled integer)
      join unnest(sessions) s on s.channel = g.channel and s.key = g.key;
  return json_build_object('version', newest, 'definition', changed, 'sessions', answer,
    'tokensToday', coalesce((select tokens from agent_days where agent_id = p_agent and day = p_day), 0));
end $$;
