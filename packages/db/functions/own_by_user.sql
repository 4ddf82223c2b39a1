-- early
-- Rows belong to the user named in the column: svc_user sees and writes only the own ones, svc_system all.
create or replace function own_by_user(target regclass, owner_column name default 'user_id') returns void
  language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'create policy user_rows on %s to svc_user using (%I = app_user_id()) with check (%I = app_user_id())',
    target, owner_column, owner_column);
  execute format('create policy system_rows on %s to svc_system using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to svc_user, svc_system', target);
  perform grant_sequences(target, 'svc_user, svc_system');
end $$;
