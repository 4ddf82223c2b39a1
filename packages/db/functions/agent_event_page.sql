-- A page of a conversation ends where it gets large, however many events were asked for: what is not in it is never read.
-- The first event is in it whatever its size.
create or replace function agent_event_page(
  p_agent text, p_session text, p_after integer, p_limit integer, p_bytes bigint
) returns setof jsonb
  language plpgsql stable as $$
declare
  e agent_events;
  total bigint := 0;
begin
  for e in select * from agent_events where session_id = p_session and agent_id = p_agent and seq > p_after
    order by seq limit p_limit
  loop
    exit when total >= p_bytes;
    total := total + octet_length(e.data::text);
    return next agent_event_json(e);
  end loop;
end $$;
