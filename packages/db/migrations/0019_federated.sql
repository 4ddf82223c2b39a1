-- Refresh tokens of federated sessions, as SHA-256 hashes; a row is one that was not used yet.
create table federated_refresh_tokens (
  token_hash text primary key,
  -- what the identity token said, and what was found out about it
  subject text not null,
  fid text not null,
  address text,
  verified boolean not null,
  -- of the sign-in: refreshing does not put it off
  expires_at timestamptz not null
);
create index federated_refresh_tokens_by_end on federated_refresh_tokens (expires_at);
select system_only('federated_refresh_tokens');
