-- What the holder of a lease works with. `p_words`: a search in the memory that the newest definition says.
-- Plans are kept for as long as a connection lives: one that was made while the tables were small must not scan them later.
-- Events of a session are numbered without gaps, so the first number is enough.
create or replace function agent_work(
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
      select m.key, memory_said(m.content, m.source_session, m.created_at) as content from memory_search(
          case when (d.definition ->> 'memoryShared')::boolean and d.definition ? 'team'
            then p_team_scope else 'agent:' || s.agent_id end, p_words, p_now, p_recalled) f
        join agent_memory m on m.id = f.id order by f.score desc, m.updated_at desc, m.id) m;
  end if;
  return json_build_object('version', d.version, 'definition', d.definition, 'first', s.compacted_to + 1,
    'tokensToday', coalesce((select tokens from agent_days where agent_id = s.agent_id and day = p_day), 0),
    'events', coalesce(events, '[]'), 'times', coalesce(times, '[]'), 'memories', memories);
end $$;
