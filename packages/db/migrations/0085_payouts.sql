-- Payments to addresses outside of the platform: owed until they are sent on-chain, or until the address is a wallet here.
create table payouts (
  -- of the payment
  id text primary key,
  address text not null,
  units bigint not null check (units > 0),
  -- sent: the stored transaction may be under way
  status text not null default 'owed' check (status in ('owed', 'sent', 'paid', 'credited')),
  transaction_hash text,
  transaction_raw text,
  transaction_nonce integer,
  transaction_from text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status in ('sent', 'paid')) <= (transaction_hash is not null))
);
create index payouts_open on payouts (lower(address)) where status in ('owed', 'sent');
select system_only('payouts');

-- What was owed before there were payouts.
insert into payouts (id, address, units, created_at, updated_at)
  select substr(t.idempotency_key, length('agent-payment:') + 1), t.meta ->> 'recipient', e.amount, t.created_at, t.created_at
  from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
  where t.kind = 'agent-payment' and e.account_id like 'owed:%' and e.amount > 0;
