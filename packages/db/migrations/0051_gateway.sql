-- Payments for plugin calls over HTTP 402.

-- Challenges that were handed out; each is worth one payment, for five minutes.
create table payment_challenges (
  id text primary key,
  plugin text not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index payment_challenges_by_end on payment_challenges (expires_at);
select system_only('payment_challenges');

-- A payer's signed transfer. verified: nothing has moved; sent: the stored transaction may be under way;
-- settled: the money is ours; released: it never moved and never will.
create table gateway_payments (
  id text primary key,
  plugin text not null,
  protocol text not null check (protocol in ('mpp', 'x402')),
  chain_id integer not null,
  token text not null,
  payer text not null,
  -- of the signed transfer: counts once
  nonce text not null,
  units numeric(78, 0) not null,
  status text not null check (status in ('verified', 'sent', 'settled', 'released')),
  transaction_hash text,
  transaction_raw text,
  transaction_nonce integer,
  transaction_from text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (chain_id, token, payer, nonce),
  check ((status in ('sent', 'settled')) <= (transaction_hash is not null))
);
create index gateway_payments_of_payer on gateway_payments (payer, created_at desc);
select system_only('gateway_payments');
