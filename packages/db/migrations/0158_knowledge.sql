-- expand: new tables, which processes of an older release leave alone
-- Documents in collections, cut into passages that are found by their words.
create table knowledge_collections (
  id text primary key,
  user_id text not null references users on delete cascade,
  -- what the index knows it by
  number integer generated always as identity unique,
  name text not null,
  description text not null default '',
  -- passages in it, their words, and the number that the next one gets
  passages integer not null default 0,
  words bigint not null default 0,
  next integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, name)
);
select own_by_user('knowledge_collections');

create table knowledge_documents (
  id text primary key,
  user_id text not null references users on delete cascade,
  collection_id text not null references knowledge_collections on delete cascade,
  name text not null,
  -- where it came from, and the address where it was fetched
  source text not null check (source in ('file', 'text', 'url')),
  url text,
  kind text,
  title text,
  state text not null check (state in ('waiting', 'ready', 'failed', 'removed')),
  -- why it could not be read, the last time
  error text,
  -- what was left out
  notes text[] not null default '{}',
  bytes integer not null default 0,
  -- SHA-256 of what was read
  digest text,
  -- its passages are those from `first` on
  first integer not null default 0,
  passages integer not null default 0,
  words integer not null default 0,
  -- all that it is found by, so that it can be taken out of the index again
  terms text[] not null default '{}',
  -- read again so often; null: never
  every_hours integer check (every_hours > 0),
  read_at timestamptz,
  next_read_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index knowledge_documents_of on knowledge_documents (collection_id, created_at desc);
create index knowledge_documents_of_user on knowledge_documents (user_id);
select own_by_user('knowledge_documents');

-- The bytes of a document until it is read.
create table knowledge_sources (
  document_id text primary key references knowledge_documents on delete cascade,
  user_id text not null,
  content bytea not null
);
-- Office files and PDFs are compressed already.
alter table knowledge_sources alter column content set storage external;
select own_by_user('knowledge_sources');

create table knowledge_passages (
  collection integer not null references knowledge_collections (number) on delete cascade,
  number integer not null,
  user_id text not null,
  document_id text not null references knowledge_documents on delete cascade,
  place text not null,
  heading text not null,
  text text not null,
  primary key (collection, number)
);
create index knowledge_passages_of on knowledge_passages (document_id);
select own_by_user('knowledge_passages');

-- Where a term stands: for each block of 4096 numbers, four bytes for each passage: its place in the block (two), how
-- often the term stands in it, and half of its words.
create table knowledge_postings (
  collection integer not null references knowledge_collections (number) on delete cascade,
  term text collate "C" not null,
  block integer not null,
  user_id text not null,
  postings bytea not null,
  primary key (collection, term, block)
);
-- Read whole, and appended to.
alter table knowledge_postings alter column postings set storage external;
select own_by_user('knowledge_postings');
