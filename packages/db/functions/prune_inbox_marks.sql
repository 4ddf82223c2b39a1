-- early
-- Of what somebody marked in the inbox, the newest 500 are kept.
create or replace function prune_inbox_marks() returns trigger
  language plpgsql as $$
begin
  delete from inbox_marks where user_id = new.user_id and item in (
    select item from inbox_marks where user_id = new.user_id order by marked_at desc, item offset 500);
  return null;
end $$;
