-- expand: new tables, and columns that may be null
-- Files that clients of Anthropic's API keep on the platform, and those of them that a session's agent has in its workspace.
create table managed_files (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  mime text not null,
  bytes integer not null,
  content bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz
);
-- What is packed or a picture does not get smaller.
alter table managed_files alter column content set storage external;
select own_by_user('managed_files');
create index managed_files_user on managed_files (user_id, created_at desc, id) include (bytes);
create index managed_files_expiry on managed_files (expires_at) where expires_at is not null;
create trigger bounded before insert on managed_files for each row
  execute function refuse_beyond('1000', 'At most 1,000 files');

create table managed_resources (
  id text primary key,
  user_id text not null references users on delete cascade,
  session_id text not null references managed_sessions on delete cascade,
  file_id text not null,
  path text not null,
  created_at timestamptz not null
);
select own_by_user('managed_resources');
create index managed_resources_user on managed_resources (user_id);
create index managed_resources_session on managed_resources (session_id, created_at, id);
create trigger bounded before insert on managed_resources for each row
  execute function refuse_beyond('100', 'At most 100 files of a session', 'session_id');
