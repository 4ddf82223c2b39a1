-- expand: a new table
-- Programs of MCP servers that are npm packages, as they were resolved once: every package with its version and integrity.
-- Of an agent's own server, or of one of its owner's. `digest` names the folder that it is installed in.
create table mcp_pins (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text references agents on delete cascade,
  server_id text references mcp_servers on delete cascade,
  pin jsonb not null,
  digest text not null,
  bytes bigint not null,
  updated_at timestamptz not null,
  check ((agent_id is null) <> (server_id is null))
);
select own_by_user('mcp_pins');
create index mcp_pins_user on mcp_pins (user_id);
create index mcp_pins_agent on mcp_pins (agent_id);
create index mcp_pins_server on mcp_pins (server_id);
create index mcp_pins_digest on mcp_pins (digest);
