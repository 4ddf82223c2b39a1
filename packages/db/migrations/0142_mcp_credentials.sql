-- expand: a new table
-- What an owner's consent brought an agent at an MCP server: registration, tokens; sealed for that agent and server.
create table mcp_credentials (
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  server text not null,
  sealed bytea not null,
  updated_at timestamptz not null,
  primary key (agent_id, server)
);
select own_by_user('mcp_credentials');
create index mcp_credentials_user on mcp_credentials (user_id);
