-- What was said to an agent and by it is found and counted without reading it: a count that reads every text takes seconds
-- of a connection that others need.
create index agent_events_said on agent_events (agent_id, at desc, seq desc, session_id)
  where type in ('user', 'assistant') and data ->> 'content' <> '';

-- The newest first. A page ends where it gets large; what is not in it is never read. The first message is in it whatever
-- its size.
create function agent_message_page(p_agent text, p_limit integer, p_offset integer, p_bytes bigint) returns setof jsonb
  language plpgsql stable as $$
declare
  e agent_events;
  total bigint := 0;
begin
  for e in select * from agent_events where agent_id = p_agent and type in ('user', 'assistant')
    and data ->> 'content' <> '' order by at desc, seq desc, session_id limit p_limit offset p_offset
  loop
    exit when total >= p_bytes;
    total := total + octet_length(e.data ->> 'content');
    return next jsonb_build_object('id', e.session_id || ':' || e.seq, 'content', e.data ->> 'content',
      'sender', case e.type when 'user' then 'user' else 'agent' end, 'timestamp', iso_text(e.at),
      'platform', (select s.channel from agent_sessions s where s.id = e.session_id));
  end loop;
end $$;

-- Calls that wait for somebody's decision, of these sessions, whoever may see them. Each event is looked at once.
create function agent_waiting_calls(p_sessions text[]) returns setof agent_events
  language sql stable as $$
  with asked as (
    select a.* from agent_events a join agent_sessions s on s.id = a.session_id
    where a.session_id = any (p_sessions) and a.type = 'approval_requested' and a.seq > s.compacted_to
  ), decided as (
    select d.session_id, d.data ->> 'approvalId' as id from agent_events d
    where d.session_id = any (p_sessions) and d.type = 'approval_decided'
  ), over as (
    select o.session_id, max(o.seq) as seq from agent_events o
    where o.session_id = any (p_sessions) and o.type = 'run_ended' group by o.session_id
  )
  select a.* from asked a
  left join decided d on d.session_id = a.session_id and d.id = a.data ->> 'approvalId'
  left join over o on o.session_id = a.session_id
  where d.id is null and a.seq > coalesce(o.seq, 0)
$$;
