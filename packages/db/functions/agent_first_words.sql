-- The first words that somebody said in a session, 120 characters of them; null: none. What was said later is not read,
-- whichever way the events are found.
create or replace function agent_first_words(p_session text) returns text
  language plpgsql stable as $$
declare
  said jsonb;
begin
  for said in select data from agent_events where session_id = p_session and type = 'user' order by seq
  loop
    if said ->> 'content' <> '' then
      return left(said ->> 'content', 120);
    end if;
  end loop;
  return null;
end $$;
