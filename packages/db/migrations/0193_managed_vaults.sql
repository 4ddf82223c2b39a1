-- expand: new tables, and a column that may be null
-- What opens MCP servers, as clients of Anthropic's Managed Agents keep it. The secret is sealed for its row alone.
create table managed_vaults (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  metadata jsonb not null,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
select own_by_user('managed_vaults');
create index managed_vaults_user on managed_vaults (user_id, created_at desc, id);
create trigger bounded before insert on managed_vaults for each row
  execute function refuse_beyond('1000', 'At most 1,000 vaults');

create table managed_credentials (
  id text primary key,
  user_id text not null references users on delete cascade,
  vault_id text not null references managed_vaults on delete cascade,
  name text,
  kind text not null check (kind in ('static_bearer', 'mcp_oauth')),
  url text not null,
  sealed bytea not null,
  expires_at timestamptz,
  metadata jsonb not null,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
select own_by_user('managed_credentials');
create index managed_credentials_user on managed_credentials (user_id);
create index managed_credentials_vault on managed_credentials (vault_id, created_at desc, id);
create trigger bounded before insert on managed_credentials for each row
  execute function refuse_beyond('100', 'At most 100 credentials of a vault', 'vault_id');

alter table managed_sessions add column vault_ids jsonb;
-- By the name of a server: the credential that opens it, as it was then.
alter table managed_agents add column opened jsonb;
