-- expand: columns with defaults and new tables, which processes of an older release leave alone
-- Passages as numbers that an embeddings model makes of them, where the owner chose one.
alter table knowledge_collections
  -- null: nothing is sent anywhere
  add column embeddings text,
  -- Numbers of another generation are never compared: it is another one after each change of the model or of its dimension.
  add column generation integer not null default 0,
  add column dimension integer,
  -- how often the dimension changed since the owner chose the model
  add column changes integer not null default 0,
  -- a sentence for the owner about it
  add column meaning_note text;

-- The sign of each number: the nearest are found by how many bits differ.
create table knowledge_meanings (
  collection integer not null,
  number integer not null,
  user_id text not null,
  generation integer not null,
  bits bit varying not null,
  primary key (collection, number),
  foreign key (collection, number) references knowledge_passages on delete cascade
);
select own_by_user('knowledge_meanings');

-- The numbers themselves, a byte each, by which the nearest are put in order.
create table knowledge_vectors (
  collection integer not null,
  number integer not null,
  user_id text not null,
  vector bytea not null,
  primary key (collection, number),
  foreign key (collection, number) references knowledge_meanings on delete cascade
);
alter table knowledge_vectors alter column vector set storage external;
select own_by_user('knowledge_vectors');
