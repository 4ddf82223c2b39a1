-- expand: a column that fills itself; processes of an older release search by the one beside it
-- Memories are found by stems, and those that were made next to a good one count more.
alter table agent_memory add column terms tsvector not null
  generated always as (memory_terms(coalesce(key, '') || ' ' || content)) stored;
