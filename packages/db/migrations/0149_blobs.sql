-- expand: files of agents, backups and mails can be kept in the database; nothing that was there changes
-- Pieces of files, each once for a user, by the SHA-256 of what it says. In the table, or in an object store.
create table blob_chunks (
  user_id text not null references users on delete cascade,
  hash bytea not null check (octet_length(hash) = 32),
  -- as it is in the file
  size integer not null check (size > 0),
  -- null: it is the object of that name
  bytes bytea,
  -- zstd
  packed boolean not null,
  object text unique,
  -- since when nothing is known to be made of it; null: something is, or was when it was last looked at
  loose_since timestamptz default now(),
  primary key (user_id, hash),
  check ((bytes is null) <> (object is null))
);
-- Small enough already, or it could not be made smaller.
alter table blob_chunks alter column bytes set storage external;
create index blob_chunks_loose on blob_chunks (loose_since) where loose_since is not null;
select own_by_user('blob_chunks');

-- Objects that no chunk holds: they are being written, or to be removed.
create table blob_objects (
  object text primary key,
  user_id text not null,
  since timestamptz not null default now()
);
create index blob_objects_oldest on blob_objects (since);
select own_by_user('blob_objects');

-- A folder with all that is in it. Each change gives it a version.
create table blob_trees (
  id text primary key,
  user_id text not null,
  agent_id text not null,
  name text not null check (name in ('workspace', 'restoring', 'backups')),
  version integer not null default 0,
  -- what was removed up to this version is no longer told
  pruned integer not null default 0,
  bytes bigint not null default 0,
  entries integer not null default 0,
  unique (agent_id, name),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
select own_by_user('blob_trees');

create table blob_files (
  tree_id text not null references blob_trees on delete cascade,
  user_id text not null,
  path text collate "C" not null,
  kind text not null check (kind in ('file', 'folder', 'link', 'gone')),
  mode integer not null,
  size bigint not null,
  link text,
  -- SHA-256 of the hashes of its parts
  digest bytea,
  version integer not null,
  changed_at timestamptz not null default now(),
  primary key (tree_id, path)
);
create index blob_files_newest on blob_files (tree_id, version);
create index blob_files_gone on blob_files (changed_at) where kind = 'gone';
select own_by_user('blob_files');
create trigger count_added after insert on blob_files
  referencing new table as after_it for each statement execute function count_blob_files();
create trigger count_changed after update on blob_files
  referencing old table as before_it new table as after_it for each statement execute function count_blob_files();
create trigger count_removed after delete on blob_files
  referencing old table as before_it for each statement execute function count_blob_files();

create table blob_parts (
  tree_id text not null,
  path text collate "C" not null,
  number integer not null,
  user_id text not null,
  hash bytea not null,
  primary key (tree_id, path, number),
  foreign key (tree_id, path) references blob_files on delete cascade,
  -- when a user goes, chunks may go before the files do
  foreign key (user_id, hash) references blob_chunks (user_id, hash) deferrable initially deferred
);
create index blob_parts_of on blob_parts (user_id, hash);
select own_by_user('blob_parts');
create trigger loosen after delete on blob_parts
  referencing old table as before_it for each statement execute function loosen_blob_chunks();
create trigger drop_objects after delete on blob_chunks
  referencing old table as before_it for each statement execute function drop_blob_objects();

-- Mails of an installation without a mail server.
create table outbox_mails (
  id text primary key,
  created_at timestamptz not null,
  recipient text not null,
  subject text not null,
  message bytea not null
);
create index outbox_mails_newest on outbox_mails (created_at desc);
select system_only('outbox_mails');
