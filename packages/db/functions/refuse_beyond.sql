-- early
-- Refuses a row when its user has so many already: (how many, what to say, a further column that must be the same).
-- The code is answered with 429. It holds the user's rows of this table until the transaction ends.
create or replace function refuse_beyond() returns trigger
  language plpgsql as $$
declare
  found boolean;
begin
  -- One after the other: of many at once each would find room. The next statement sees what the one before has left.
  perform pg_advisory_xact_lock(hashtextextended(format('%s of %s', tg_table_name, to_jsonb(new) ->> 'user_id'), 0));
  execute format(
    'select true from %I.%I where user_id = ($1).user_id %s offset %s limit 1', tg_table_schema, tg_table_name,
    case when tg_nargs > 2 then format('and %I = ($1).%I', tg_argv[2], tg_argv[2]) else '' end, tg_argv[0]::integer - 1)
    into found using new;
  if found then raise exception using errcode = 'TR429', message = tg_argv[1]; end if;
  return new;
end $$;
