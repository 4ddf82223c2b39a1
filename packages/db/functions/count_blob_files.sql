-- early
-- What a tree holds is counted as it changes.
create or replace function count_blob_files() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update blob_trees t set bytes = t.bytes + d.bytes, entries = t.entries + d.entries
    from (select tree_id, sum(size) as bytes, count(*) as entries from after_it where kind <> 'gone' group by 1) d
    where t.id = d.tree_id;
  elsif tg_op = 'DELETE' then
    update blob_trees t set bytes = t.bytes - d.bytes, entries = t.entries - d.entries
    from (select tree_id, sum(size) as bytes, count(*) as entries from before_it where kind <> 'gone' group by 1) d
    where t.id = d.tree_id;
  else
    update blob_trees t set bytes = t.bytes + d.bytes, entries = t.entries + d.entries
    from (
      select tree_id, sum(bytes) as bytes, sum(entries) as entries from (
        select tree_id, size as bytes, 1 as entries from after_it where kind <> 'gone'
        union all
        select tree_id, -size, -1 from before_it where kind <> 'gone') both_of group by 1) d
    where t.id = d.tree_id and (d.bytes <> 0 or d.entries <> 0);
  end if;
  return null;
end $$;
