-- early
-- Mailed links that have ended go when the next one is made.
create or replace function prune_links() returns trigger
  language plpgsql as $$
begin
  execute format('delete from %I.%I where user_id = $1 and expires_at < now()', tg_table_schema, tg_table_name)
    using new.user_id;
  return null;
end $$;
