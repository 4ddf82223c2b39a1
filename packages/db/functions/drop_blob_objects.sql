-- early
-- The object of a chunk that is gone is to be removed, whoever removed the chunk.
create or replace function drop_blob_objects() returns trigger language plpgsql as $$
begin
  insert into blob_objects (object, user_id) select object, user_id from before_it where object is not null
  on conflict do nothing;
  return null;
end $$;
