-- Copies of an agent's data. The files lie in DATA_DIR/backups/<agent>/<id>.tar.gz.
create table agent_backups (
  id text primary key,
  agent_id text not null,
  user_id text not null,
  created_at timestamptz not null,
  reason text not null check (reason in ('manual', 'update', 'restore')),
  -- what wrote the file and can read it
  driver text not null,
  image text not null,
  version text not null,
  size bigint not null,
  sha256 text not null,
  -- name, own configuration, model and definition at that time
  settings jsonb not null,
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_backups_newest on agent_backups (agent_id, created_at desc);
select own_by_user('agent_backups');
