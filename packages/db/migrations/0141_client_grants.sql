-- expand: new tables
-- Programs that people let in (OAuth 2.1). A client is nobody's: it has registered itself, or is the address of its own
-- description, which is asked for again after a while.
create table oauth_clients (
  id text primary key,
  name text not null,
  redirect_uris text[] not null,
  refreshes boolean not null,
  described boolean not null,
  created_at timestamptz not null,
  used_at timestamptz
);
select system_only('oauth_clients');
create index oauth_clients_unused on oauth_clients (created_at) where used_at is null;

-- What one person gave one client, for one resource: `platform`, or the id of an agent.
create table client_grants (
  id text primary key,
  user_id text not null references users on delete cascade,
  client_id text not null,
  client_name text not null,
  audience text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  used_at timestamptz,
  unique (user_id, client_id, audience)
);
select own_by_user('client_grants');
-- It stands at agents' gateways as the owner's keys do.
create trigger tell_ended after delete on client_grants
  for each row execute function tell_credential_ended('key');

create table client_codes (
  hash text primary key,
  user_id text not null references users on delete cascade,
  grant_id text not null references client_grants on delete cascade,
  client_id text not null,
  redirect_uri text not null,
  challenge text not null,
  scopes text[] not null,
  refreshes boolean not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
select own_by_user('client_codes');
create index client_codes_grant on client_codes (grant_id);
create index client_codes_over on client_codes (expires_at);

-- A refresh token that was used stays until it would have ended: who shows it again has stolen it, or was stolen from.
create table client_tokens (
  hash text primary key,
  user_id text not null references users on delete cascade,
  grant_id text not null references client_grants on delete cascade,
  kind text not null check (kind in ('access', 'refresh')),
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
select own_by_user('client_tokens');
create index client_tokens_grant on client_tokens (grant_id);
create index client_tokens_over on client_tokens (expires_at);
