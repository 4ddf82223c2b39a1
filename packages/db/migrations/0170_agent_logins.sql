-- expand: a new table
-- What an agent's browser signs in with: sealed for that agent, that name and that origin, and for nothing else.
create table agent_logins (
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  origin text not null,
  sealed bytea not null,
  updated_at timestamptz not null,
  primary key (agent_id, name)
);
select own_by_user('agent_logins');
create index agent_logins_user on agent_logins (user_id);
