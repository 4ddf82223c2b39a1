-- early
-- A user makes at most a thousand splits a day.
create or replace function refuse_splits() returns trigger
  language plpgsql as $$
begin
  -- As in refuse_beyond.
  perform pg_advisory_xact_lock(hashtextextended('splits of ' || new.user_id, 0));
  if exists (select from splits where user_id = new.user_id and created_at > new.created_at - interval '1 day' offset 999)
  then raise exception using errcode = 'TR429', message = 'Too many splits (max 1000 a day)'; end if;
  return new;
end $$;
