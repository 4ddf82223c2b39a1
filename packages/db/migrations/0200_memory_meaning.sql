-- expand: new tables and triggers, which processes of an older release leave alone
-- Memories as numbers that an embeddings model makes of them, and agents whose memory is worked on in the background.

-- What the newest definition says about the memory, for agents where it says something; kept by a trigger.
create table agent_memory_care (
  agent_id text primary key,
  user_id text not null,
  -- the memory that it reads and writes
  scope text not null,
  embeddings text,
  facts boolean not null default false,
  -- something was remembered, or another model chosen: numbers have to be made
  meaning_due boolean not null default false,
  -- conversations that rested up to here have been looked at
  facts_seen timestamptz not null default now(),
  -- a sentence for the owner
  facts_note text,
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_memory_care_scope on agent_memory_care (scope);
create index agent_memory_care_due on agent_memory_care (agent_id) where meaning_due;
create index agent_memory_care_facts on agent_memory_care (agent_id) where facts;
select own_by_user('agent_memory_care');
create trigger memory_care after insert on agent_definitions for each row execute function memory_care();
create trigger memory_due after insert or update of content on agent_memory for each row execute function memory_due();

-- How a memory stands with a model.
create table agent_memory_models (
  user_id text not null references users on delete cascade,
  scope text not null,
  model text not null,
  -- how many numbers it makes of a text; those of another dimension are never compared
  dimension integer,
  -- how often that changed since the model was chosen
  changes integer not null default 0,
  -- a sentence for the owner
  note text,
  primary key (user_id, scope, model)
);
select own_by_user('agent_memory_models');

create table agent_memory_vectors (
  memory_id text not null references agent_memory on delete cascade,
  model text not null,
  user_id text not null,
  scope text not null,
  dimension integer not null,
  -- when the text that they were made of was written: they do not hold for another
  made_of timestamptz not null,
  -- the sign of each number: the nearest are found by how many bits differ
  bits bit varying not null,
  -- a byte each, by which the nearest are put in order
  vector bytea not null,
  primary key (memory_id, model)
);
-- Bits are walked over; the rest lies elsewhere.
alter table agent_memory_vectors alter column bits set storage plain;
alter table agent_memory_vectors alter column vector set storage external;
alter table agent_memory_vectors set (toast_tuple_target = 128);
create index agent_memory_vectors_of on agent_memory_vectors (scope, model, dimension);
select own_by_user('agent_memory_vectors');
