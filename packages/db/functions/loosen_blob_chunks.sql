-- early
-- Something is no longer made of these chunks; whether nothing is, is looked at before they go. All lock them in one order.
create or replace function loosen_blob_chunks() returns trigger language plpgsql as $$
begin
  update blob_chunks c set loose_since = now()
  from (
    select k.user_id, k.hash from blob_chunks k
    where (k.user_id, k.hash) in (select user_id, hash from before_it) and k.loose_since is null
    order by k.user_id, k.hash for no key update) l
  where c.user_id = l.user_id and c.hash = l.hash;
  return null;
end $$;
