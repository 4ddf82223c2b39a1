-- expand: new tables
-- MCP servers that belong to a user: every agent has them, or those that were chosen. Secrets in `server` and `access` are
-- sealed for that user and name. `renewing_until`: somebody renews the access; a token that is used twice may end it.
create table mcp_servers (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  server jsonb not null,
  for_all boolean not null,
  approval text not null check (approval in ('allow', 'ask', 'deny')),
  access bytea,
  renewing_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, name)
);
select own_by_user('mcp_servers');
create trigger bounded before insert on mcp_servers for each row
  execute function refuse_beyond('100', 'At most 100 MCP servers');

-- What an agent does with such a server, and how it last was there. `uses` null: as the server says for all.
create table mcp_server_agents (
  server_id text not null references mcp_servers on delete cascade,
  agent_id text not null references agents on delete cascade,
  user_id text not null references users on delete cascade,
  uses boolean,
  state text check (state in ('connected', 'failed', 'consent')),
  error text,
  offered jsonb,
  tried_at timestamptz,
  primary key (server_id, agent_id)
);
select own_by_user('mcp_server_agents');
create index mcp_server_agents_agent on mcp_server_agents (agent_id);
create index mcp_server_agents_user on mcp_server_agents (user_id);
