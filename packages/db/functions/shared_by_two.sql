-- early
-- Both sides' owners read it, only the system writes.
create or replace function shared_by_two(target regclass) returns void
  language plpgsql as $$
begin
  perform system_only(target);
  execute format('create policy parties on %s for select to svc_user using (app_user_id() in (from_user_id, to_user_id))', target);
  execute format('grant select on %s to svc_user', target);
end $$;
