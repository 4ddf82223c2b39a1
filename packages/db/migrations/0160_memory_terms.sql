-- expand: a column that fills itself, and indexes; processes of an older release search by the one beside it
-- Memories are found by stems, and those that were made next to a good one count more.
alter table agent_memory add column terms tsvector not null
  generated always as (memory_terms(coalesce(key, '') || ' ' || content)) stored;
create index agent_memory_terms on agent_memory using gin (terms);
create index agent_memory_made on agent_memory (scope, created_at, id);
