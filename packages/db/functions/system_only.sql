-- early
-- svc_user must not touch it at all.
create or replace function system_only(target regclass) returns void
  language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy system_rows on %s to svc_system using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to svc_system', target);
  perform grant_sequences(target, 'svc_system');
end $$;
