-- Numbers events on from the last one of the session, and stores them; answers the last number. The input is known by the
-- last of them.
create or replace function agent_store_events(s agent_sessions, p_events jsonb, p_input text) returns integer
  language plpgsql as $$
declare
  total integer := jsonb_array_length(p_events);
begin
  insert into agent_events (session_id, seq, agent_id, user_id, data, input_id)
    select s.id, s.last_seq + n, s.agent_id, s.user_id, value, case when n = total then p_input end
    from jsonb_array_elements(p_events) with ordinality as given (value, n);
  if total > 0 then perform agent_tell(array[s.id], array[s.last_seq + total]); end if;
  return s.last_seq + total;
end $$;
