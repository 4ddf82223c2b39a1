-- early
-- No session of somebody with a second factor begins without it.
create or replace function refuse_without_second_step() returns trigger
  language plpgsql as $$
begin
  if new.second_step is null and exists (
    select from second_factors where user_id = new.user_id and confirmed_at is not null
  ) then raise exception 'a session of % needs the second step', new.user_id; end if;
  return new;
end $$;
