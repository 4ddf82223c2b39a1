-- early
-- Writes down that those who wait for tasks of a session are to be told. Few sessions have any: found by the key.
create or replace function tell_a2a_push() returns trigger language plpgsql as $$
begin
  insert into a2a_push_deliveries (session_id, seq, config_id, user_id)
    select c.session_id, c.seq, c.id, c.user_id from a2a_push_configs c
    where c.session_id = new.session_id and c.seq < new.seq and c.ended_at is null;
  if found then perform pg_notify('a2a_push', ''); end if;
  return null;
end $$;
