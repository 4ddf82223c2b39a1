-- early
-- Whatever writes a definition keeps the newest fifty: nothing refers to a version but the one that is in force, and an
-- older one is there to be looked at. Writers hold the agent's row, so two of them cannot pass each other here.
create or replace function prune_definitions() returns trigger
  language plpgsql as $$
begin
  delete from agent_definitions where agent_id = new.agent_id and version <= new.version - 50;
  return null;
end $$;
