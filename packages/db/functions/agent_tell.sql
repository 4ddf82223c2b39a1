-- Tells those who follow them how far these sessions are. To be called after their rows are locked: whoever begins to follow
-- takes the same lock, so either finds what is being stored, or is found here.
create or replace function agent_tell(p_sessions text[], p_last integer[]) returns void
  language plpgsql as $$
begin
  perform pg_notify('agent_session', n.id || ' ' || n.last)
  from unnest(p_sessions, p_last) as n (id, last)
  where exists (select from agent_followers f where f.session_id = n.id);
end $$;
