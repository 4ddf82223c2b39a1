-- Keeps chunks; those that are there stay as they are, and are safe for a while. Objects that became a chunk's are no
-- longer to be removed.
create or replace function blob_put(
  p_user text, p_hashes bytea[], p_sizes integer[], p_bytes bytea[], p_packed boolean[], p_objects text[]
) returns void language plpgsql as $$
begin
  insert into blob_chunks as c (user_id, hash, size, bytes, packed, object)
  select p_user, g.hash, g.size, g.bytes, g.packed, g.object
  from unnest(p_hashes, p_sizes, p_bytes, p_packed, p_objects) as g (hash, size, bytes, packed, object)
  order by g.hash
  on conflict (user_id, hash) do update set loose_since = now() where c.loose_since < now() - interval '5 minutes';
  if cardinality(array_remove(p_objects, null)) > 0 then
    delete from blob_objects o using blob_chunks c where o.object = any (p_objects) and c.object = o.object;
  end if;
end $$;
