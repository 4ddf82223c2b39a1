-- early
-- Of notices that were read, the newest thousand are kept.
create or replace function prune_notices() returns trigger
  language plpgsql as $$
begin
  delete from notices where user_id = new.user_id and read_at is not null and id <= (
    select id from notices where user_id = new.user_id order by id desc offset 1000 limit 1);
  return null;
end $$;
