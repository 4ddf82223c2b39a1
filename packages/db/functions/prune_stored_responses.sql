-- early
-- Of a user's stored responses the newest are kept: 1,000 of them, of 64 MB together. Those that were just stored stay; what
-- somebody else is deleting is theirs to delete, so that two who store never wait for each other.
create or replace function prune_stored_responses() returns trigger
  language plpgsql as $$
begin
  delete from stored_responses where id in (
    select id from stored_responses where id in (
      select id from (
        select id, row_number() over newest as place, sum(bytes) over newest as total
        from stored_responses where user_id in (select user_id from added)
        window newest as (partition by user_id order by created_at desc, id)
      ) kept where place > 1000 or total > 64 * 1024 * 1024
    ) and id not in (select id from added)
    order by id for update skip locked);
  return null;
end $$;
