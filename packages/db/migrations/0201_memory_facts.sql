-- expand: nullable columns and a new table, which processes of an older release leave alone
-- Facts are memories that were taken out of a conversation: where they came from stays with them.
alter table agent_memory
  add column source_session text,
  add column source_seq integer,
  -- other memories that say something else; their owner decides
  add column disputes text[];
create index agent_memory_facts on agent_memory (scope, created_at desc) where source_session is not null;
create index agent_memory_source on agent_memory (source_session) where source_session is not null;

-- How far the facts of a conversation have been taken out.
create table agent_fact_progress (
  session_id text primary key references agent_sessions on delete cascade,
  user_id text not null,
  seq integer not null
);
select own_by_user('agent_fact_progress');
