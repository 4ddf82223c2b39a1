-- early
-- Of a user's stored responses the newest are kept: 1,000 of them, of 64 MB together. The one that was just stored stays.
create or replace function prune_stored_responses() returns trigger
  language plpgsql as $$
begin
  delete from stored_responses where user_id = new.user_id and id <> new.id and id in (
    select id from (
      select id, row_number() over newest as place, sum(bytes) over newest as total
      from stored_responses where user_id = new.user_id
      window newest as (order by created_at desc, id)
    ) kept where place > 1000 or total > 64 * 1024 * 1024);
  return null;
end $$;
