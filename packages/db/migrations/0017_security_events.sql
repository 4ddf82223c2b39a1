-- Set while the general identity provider says that the account there was taken over.
alter table users add column idp2_disabled_at timestamptz;

-- Security events of the general identity provider, each once.
create table risc_events (
  jti text primary key,
  -- they are acted on in this order
  seq bigint generated always as identity,
  -- the event map of the token, as it was signed
  events jsonb not null,
  -- the older receiver knows people by their address alone
  by_email_only boolean not null,
  received_at timestamptz not null,
  processed_at timestamptz
);
create index risc_events_waiting on risc_events (seq) where processed_at is null;
select system_only('risc_events');
