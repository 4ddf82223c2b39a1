-- Who the current transaction acts for; null outside a user's scope, so that no row matches.
create function app_user_id() returns text
  language sql stable parallel safe
  return nullif(current_setting('app.user_id', true), '');

-- Rows belong to the user named in the column: svc_user sees and writes only the own ones, svc_system all.
create function own_by_user(target regclass, owner_column name default 'user_id') returns void
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

-- svc_user must not touch it at all.
create function system_only(target regclass) returns void
  language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy system_rows on %s to svc_system using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to svc_system', target);
  perform grant_sequences(target, 'svc_system');
end $$;

-- The same for everybody: svc_user reads, svc_system writes.
create function read_by_all(target regclass) returns void
  language plpgsql as $$
begin
  perform system_only(target);
  execute format('create policy all_rows on %s for select to svc_user using (true)', target);
  execute format('grant select on %s to svc_user', target);
end $$;

-- Serial and identity columns need their sequences.
create function grant_sequences(target regclass, roles text) returns void
  language plpgsql as $$
declare
  sequence regclass;
begin
  for sequence in
    select objid::regclass from pg_depend
    where refobjid = target and classid = 'pg_class'::regclass and deptype in ('a', 'i')
      and exists (select from pg_class where oid = objid and relkind = 'S')
  loop
    execute format('grant usage, select on sequence %s to %s', sequence, roles);
  end loop;
end $$;
