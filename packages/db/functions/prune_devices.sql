-- early
-- Whoever has a gateway token may ask to be paired: the newest who wait, and the newest of those who were sent away.
create or replace function prune_devices() returns trigger
  language plpgsql as $$
begin
  delete from devices where id in (
    select id from (
      select id, row_number() over (partition by status = 'pending' order by first_seen desc, id) as place
      from devices where user_id = new.user_id and status <> 'approved') d
    where place > 100);
  return null;
end $$;
