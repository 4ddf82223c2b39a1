-- What was said to an agent and by it, the newest first. A page ends where it gets large; what is not in it is never read. The first message is in it whatever
-- its size.
create or replace function agent_message_page(p_agent text, p_limit integer, p_offset integer, p_bytes bigint) returns setof jsonb
  language plpgsql stable as $$
declare
  e agent_events;
  total bigint := 0;
begin
  for e in select * from agent_events where agent_id = p_agent and type in ('user', 'assistant')
    and not copied and data ->> 'content' <> '' order by at desc, seq desc, session_id limit p_limit offset p_offset
  loop
    exit when total >= p_bytes;
    total := total + octet_length(e.data ->> 'content');
    return next jsonb_build_object('id', e.session_id || ':' || e.seq, 'content', e.data ->> 'content',
      'sender', case e.type when 'user' then 'user' else 'agent' end, 'timestamp', iso_text(e.at),
      'platform', (select s.channel from agent_sessions s where s.id = e.session_id));
  end loop;
end $$;
