-- early
-- Something was remembered or changed: where a model makes numbers of memories, it has to be asked.
create or replace function memory_due() returns trigger language plpgsql as $$
begin
  update agent_memory_care set meaning_due = true
  where scope = new.scope and embeddings is not null and not meaning_due;
  return null;
end $$;
