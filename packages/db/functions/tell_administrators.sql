-- early
-- As tell_live, to every administrator.
create or replace function tell_administrators() returns trigger language plpgsql as $$
begin
  perform pg_notify('live', '* ' || tg_argv[0]);
  return null;
end $$;
