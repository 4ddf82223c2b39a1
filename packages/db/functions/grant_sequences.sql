-- early
-- Serial and identity columns need their sequences.
create or replace function grant_sequences(target regclass, roles text) returns void
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
