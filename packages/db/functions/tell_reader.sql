-- early
-- As tell_live, for what changes often.
create or replace function tell_reader() returns trigger language plpgsql as $$
begin
  perform live_tell(new.user_id, tg_argv[0]);
  return null;
end $$;
