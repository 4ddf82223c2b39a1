-- early
-- A quarter of a year of what agents wrote to each other; a few at a time, so that no message waits for an old heap.
create or replace function prune_bus_messages() returns trigger
  language plpgsql as $$
begin
  delete from bus_messages where id in (
    select id from bus_messages where from_user_id = new.from_user_id and status <> 'queued'
      and created_at < new.created_at - interval '90 days' order by number limit 20);
  return null;
end $$;
