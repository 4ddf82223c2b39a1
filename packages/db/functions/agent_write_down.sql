-- Steps of the holders of leases, each session once. Answers the sessions that took theirs (`stored`) and those that have
-- newer events than their writer knows (`newer`); the lease of any other is not its writer's. `version`: the newest
-- definition, and `files`: the version of the workspace that is stored, where somebody goes on working.
-- What many conversations of one agent bring at once is stored together. All who write lock in one order: the agent, which
-- must not go meanwhile, then sessions by channel and key, then its day.
create or replace function agent_write_down(
  p_agent text, p_user text, p_ids text[], p_given jsonb, p_day date, p_logs_kept integer
) returns json
  language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set plan_cache_mode = force_generic_plan as $$
declare
  stored text[];
  reached integer[];
  logged bigint[];
begin
  perform from agents where id = p_agent for key share;
  if cardinality(p_ids) > 1 then
    perform from agent_sessions where id = any (p_ids) order by channel, key for no key update;
  end if;
  with given as (
    select * from jsonb_to_recordset(p_given) as g (id text, owner text, expected integer, events jsonb, status text,
      release boolean, tokens bigint, compacted integer, lines jsonb)
  ), held as (
    update agent_sessions s set
      last_seq = g.expected + jsonb_array_length(g.events),
      status = coalesce(g.status, s.status),
      lease_owner = case when g.release then null else s.lease_owner end,
      compacted_to = greatest(s.compacted_to, g.compacted),
      updated_at = now()
    from given g
    -- by the index, whatever size the tables had when this was planned
    where s.id = any (p_ids) and s.id = g.id and s.lease_owner = g.owner and s.last_seq = g.expected
    returning s.id, g.expected, g.events, g.tokens, g.lines
  ), kept as (
    insert into agent_events (session_id, seq, agent_id, user_id, data)
    select h.id, h.expected + e.n, p_agent, p_user, e.value
    from held h, jsonb_array_elements(h.events) with ordinality as e (value, n)
  ), counted as (
    insert into agent_days as d (agent_id, user_id, day, tokens)
    select p_agent, p_user, p_day, sum(h.tokens) from held h having sum(h.tokens) > 0
    on conflict (agent_id, day) do update set tokens = d.tokens + excluded.tokens
  ), noted as (
    insert into agent_logs (agent_id, user_id, level, message, source)
    select p_agent, p_user, l.level, left(l.message, 4000), l.source
    from held h, jsonb_to_recordset(h.lines) as l (level text, message text, source text)
    returning id
  )
  select h.ids, h.reached, (select array_agg(n.id) from noted n) into stored, reached, logged
    from (select array_agg(id) as ids, array_agg(expected + jsonb_array_length(events)) as reached from held) h;
  if stored is not null then perform agent_tell(stored, reached); end if;
  -- Now and then is enough.
  if exists (select from unnest(logged) id where id % 200 = 0) then
    delete from agent_logs where agent_id = p_agent and id <= (
      select id from agent_logs where agent_id = p_agent order by id desc offset p_logs_kept limit 1);
  end if;
  return json_build_object('stored', coalesce(stored, '{}'),
    'newer', case when coalesce(cardinality(stored), 0) < cardinality(p_ids) then (
      select json_agg(s.id) from jsonb_to_recordset(p_given) as g (id text, owner text)
      join agent_sessions s on s.id = any (p_ids) and s.id = g.id and s.lease_owner = g.owner
        and s.id <> all (coalesce(stored, '{}'))) end,
    'version', case when p_given @> '[{"release": false}]' then (
      select max(version) from agent_definitions where agent_id = p_agent) end,
    'files', case when p_given @> '[{"release": false}]' then coalesce((
      select version from blob_trees where agent_id = p_agent and name = 'workspace'), 0) end);
end $$;
