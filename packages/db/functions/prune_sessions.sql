-- early
-- Of sessions that are only looked back at, the newest are kept.
create or replace function prune_sessions() returns trigger
  language plpgsql as $$
begin
  delete from sessions where user_id = new.user_id and (expires_at < new.created_at or id in (
    select id from sessions where user_id = new.user_id order by created_at desc, id offset 100));
  return null;
end $$;
