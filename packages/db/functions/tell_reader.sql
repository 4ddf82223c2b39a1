-- early
-- As tell_live, for what changes often: only those whose pages are open are told. What live_tell does, without a call more,
-- since every answer comes by here twice.
create or replace function tell_reader() returns trigger language plpgsql as $$
begin
  if exists (select from live_readers where user_id = new.user_id and until > now()) then
    perform pg_notify('live', new.user_id || ' ' || tg_argv[0]);
  end if;
  return null;
end $$;
