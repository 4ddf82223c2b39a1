-- early
-- The same for everybody: svc_user reads, svc_system writes.
create or replace function read_by_all(target regclass) returns void
  language plpgsql as $$
begin
  perform system_only(target);
  execute format('create policy all_rows on %s for select to svc_user using (true)', target);
  execute format('grant select on %s to svc_user', target);
end $$;
