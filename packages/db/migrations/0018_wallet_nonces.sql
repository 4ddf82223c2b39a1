-- Handed out for wallet sign-in; a row is a nonce that was not used yet.
create table wallet_nonces (
  nonce text primary key,
  expires_at timestamptz not null
);
create index wallet_nonces_by_end on wallet_nonces (expires_at);
select system_only('wallet_nonces');
