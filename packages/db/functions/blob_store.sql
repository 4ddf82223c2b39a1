-- Changes a tree: new chunks, then what is gone, then what is new or other than before. All or nothing, and a new version if
-- anything is another. `lost`: the session is no longer the caller's, and nothing was changed. `missing`: a chunk that
-- the caller took for granted is not there.
-- p_files: [{path, kind, mode, size, link, digest, parts: [hash…]}]; p_above: folders that hold them;
-- p_felled: gone with all that is below.
create or replace function blob_store(
  p_agent text, p_user text, p_name text, p_id text, p_session text, p_owner text,
  p_hashes bytea[], p_sizes integer[], p_bytes bytea[], p_packed boolean[], p_objects text[],
  p_files jsonb, p_above text[], p_gone text[], p_felled text[], p_max_bytes bigint, p_max_entries integer
) returns json
  language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  was blob_trees;
  now_is blob_trees;
  changed text[];
  hidden text[];
  removed text[];
  above integer;
begin
  if p_session is not null then
    perform from agent_sessions where id = p_session and lease_owner = p_owner for share;
    if not found then
      return json_build_object('status', 'lost');
    end if;
  end if;
  if cardinality(p_hashes) > 0 then
    perform blob_put(p_user, p_hashes, p_sizes, p_bytes, p_packed, p_objects);
  end if;
  insert into blob_trees (id, user_id, agent_id, name) values (p_id, p_user, p_agent, p_name)
  on conflict (agent_id, name) do nothing;
  select * into was from blob_trees where agent_id = p_agent and name = p_name for update;
  -- From here on they stay until this is over.
  if (select count(*) from (
        select from blob_chunks where user_id = p_user and hash in (
          select decode(h, 'hex') from jsonb_array_elements(p_files) f, jsonb_array_elements_text(f -> 'parts') h)
        for key share) there)
     < (select count(distinct h) from jsonb_array_elements(p_files) f, jsonb_array_elements_text(f -> 'parts') h) then
    return json_build_object('status', 'missing');
  end if;

  if cardinality(p_gone) + cardinality(p_felled) > 0 then
    with gone as (
      update blob_files f set kind = 'gone', mode = 0, size = 0, link = null, digest = null,
        version = was.version + 1, changed_at = now()
      where f.tree_id = was.id and f.kind <> 'gone' and f.path = any (p_gone) returning f.path
    ), felled as (
      update blob_files f set kind = 'gone', mode = 0, size = 0, link = null, digest = null,
        version = was.version + 1, changed_at = now()
      from unnest(p_felled) as p (path)
      where f.tree_id = was.id and f.kind <> 'gone' and f.path <> all (p_gone)
        and (f.path = p.path or (f.path > p.path || '/' and f.path < p.path || '0')) returning f.path
    )
    select array_agg(path) into removed from (select path from gone union all select path from felled) g;
  end if;

  with added as (
    insert into blob_files as f (tree_id, user_id, path, kind, mode, size, link, digest, version)
    select was.id, p_user, g.path, g.kind, g.mode, g.size, g.link, decode(g.digest, 'hex'), was.version + 1
    from jsonb_to_recordset(p_files) as g (path text, kind text, mode integer, size bigint, link text, digest text)
    on conflict (tree_id, path) do update set kind = excluded.kind, mode = excluded.mode, size = excluded.size,
      link = excluded.link, digest = excluded.digest, version = excluded.version, changed_at = now()
    where (f.kind, f.mode, f.size, f.link, f.digest)
      is distinct from (excluded.kind, excluded.mode, excluded.size, excluded.link, excluded.digest)
    returning f.path, f.kind
  )
  select array_agg(path), array_agg(path) filter (where kind <> 'folder') into changed, hidden from added;
  -- Nothing lies below a file, and what holds something is a folder: the last one who wrote is right.
  if cardinality(hidden) > 0 then
    with buried as (
      update blob_files f set kind = 'gone', mode = 0, size = 0, link = null, digest = null,
        version = was.version + 1, changed_at = now()
      from unnest(hidden) as p (path)
      where f.tree_id = was.id and f.kind <> 'gone' and f.path > p.path || '/' and f.path < p.path || '0'
        and f.path <> all (changed) returning f.path
    )
    select removed || array_agg(path) into removed from buried;
  end if;
  if cardinality(p_above) > 0 then
    with held as (
      insert into blob_files as f (tree_id, user_id, path, kind, mode, size, version)
      select was.id, p_user, path, 'folder', 448, 0, was.version + 1 from unnest(p_above) as a (path)
      on conflict (tree_id, path) do update set kind = 'folder', mode = 448, size = 0, link = null, digest = null,
        version = excluded.version, changed_at = now() where f.kind <> 'folder'
      returning f.path
    )
    select count(*), removed || array_agg(path) into above, removed from held;
  end if;

  delete from blob_parts where tree_id = was.id and path = any (changed || removed);
  insert into blob_parts (tree_id, path, number, user_id, hash)
  select was.id, f ->> 'path', h.number, p_user, decode(h.hash, 'hex')
  from jsonb_array_elements(p_files) f, jsonb_array_elements_text(f -> 'parts') with ordinality as h (hash, number)
  where f ->> 'path' = any (changed);

  select * into now_is from blob_trees where id = was.id;
  if (now_is.bytes > p_max_bytes and now_is.bytes > was.bytes)
     or (now_is.entries > p_max_entries and now_is.entries > was.entries) then
    raise exception 'the tree is full' using errcode = 'BLF01';
  end if;
  if cardinality(changed || removed) > 0 or above > 0 then
    update blob_trees set version = was.version + 1 where id = was.id;
    return json_build_object('status', 'stored', 'before', was.version, 'version', was.version + 1);
  end if;
  return json_build_object('status', 'stored', 'before', was.version, 'version', was.version);
end $$;
