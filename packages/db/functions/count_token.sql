-- early
-- A gateway token has ended, whoever ended it: the next one is of another generation.
create or replace function count_token() returns trigger language plpgsql as $$
begin
  new.token_generation := old.token_generation + 1;
  return new;
end $$;
