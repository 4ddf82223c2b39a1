-- expand: new tables
-- The skills of a user: folders in the AgentSkills format. What comes in waits as a version without a skill until its
-- owner has looked at it and said yes; then it is the skill's newest. Agents name the digest that they were given.
create table skills (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, name)
);
select own_by_user('skills');

create table skill_versions (
  id text primary key,
  user_id text not null references users on delete cascade,
  -- null: nobody has said yes to it
  skill_id text references skills on delete cascade,
  number integer,
  name text not null,
  description text not null,
  -- of all files: see digest.ts
  digest text not null,
  -- license, compatibility, metadata, allowedTools
  head jsonb not null,
  -- scripts, hosts, findings, leftOut: what was seen when it came in
  report jsonb not null,
  -- files | archive | built-in | draft, or the address that it was fetched from
  source text not null,
  bytes integer not null,
  created_at timestamptz not null,
  accepted_at timestamptz,
  unique (skill_id, number),
  check ((skill_id is null) = (number is null) and (skill_id is null) = (accepted_at is null))
);
create index skill_versions_of_user on skill_versions (user_id, digest);
select own_by_user('skill_versions');

create table skill_files (
  version_id text not null references skill_versions on delete cascade,
  user_id text not null references users on delete cascade,
  path text not null,
  kind text not null check (kind in ('text', 'script', 'picture', 'font', 'document', 'program', 'binary')),
  bytes integer not null,
  sha256 text not null,
  content bytea not null,
  primary key (version_id, path)
);
create index skill_files_of_user on skill_files (user_id);
-- Compressed content is not compressed again.
alter table skill_files alter column content set storage external;
select own_by_user('skill_files');
