-- Money: the card processor, the ledger, and everything that is paid through it.

-- What the card processor knows about a user.
create table billing_customers (
  user_id text primary key references users on delete cascade,
  -- the processor's name for the user
  customer_id text not null unique,
  created_at timestamptz not null
);
select own_by_user('billing_customers');
revoke insert, update, delete on billing_customers from svc_user;

create table billing_subscriptions (
  -- the processor's
  id text primary key,
  user_id text not null references users on delete cascade,
  plan text not null check (plan in ('solo', 'collective', 'label', 'network')),
  status text not null check (status in ('active', 'inactive', 'past_due', 'cancelled')),
  renews_at timestamptz,
  -- when the newest event about it was made: older ones that come later change nothing
  event_at timestamptz not null
);
create index billing_subscriptions_of_user on billing_subscriptions (user_id);
select own_by_user('billing_subscriptions');
revoke insert, update, delete on billing_subscriptions from svc_user;

-- Every event counts once.
create table billing_events (
  id text primary key,
  type text not null,
  received_at timestamptz not null
);
select system_only('billing_events');

-- Double-entry money. Amounts are integers of the asset's smallest unit. Everything that changes a balance goes through
-- the functions ledger_*, in one round trip; triggers hold what must be true even of a query that does not.

create table ledger_accounts (
  id text primary key,
  asset text not null,
  -- a source or a sink of money outside: may go below zero
  allow_negative boolean not null default false,
  balance bigint not null default 0,
  -- part of the balance that is promised
  held bigint not null default 0 check (held >= 0),
  created_at timestamptz not null,
  constraint ledger_no_overdraft check (allow_negative or balance - held >= 0)
);
select system_only('ledger_accounts');

create table ledger_transactions (
  id bigint generated always as identity primary key,
  idempotency_key text not null unique,
  -- of the whole request: the same key with another request is an error
  request_hash text not null,
  kind text not null,
  meta jsonb not null default '{}',
  created_at timestamptz not null
);
select system_only('ledger_transactions');
create trigger append_only before update or delete or truncate on ledger_transactions
  for each statement execute function refuse_change();

create table ledger_entries (
  id bigint generated always as identity primary key,
  transaction_id bigint not null references ledger_transactions,
  account_id text not null references ledger_accounts,
  amount bigint not null check (amount <> 0),
  balance_after bigint not null,
  created_at timestamptz not null
);
create index ledger_entries_of_account on ledger_entries (account_id, id desc);
create index ledger_entries_of_transaction on ledger_entries (transaction_id);
select system_only('ledger_entries');
create trigger append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();
create trigger balanced after insert on ledger_entries
  referencing new table as added for each statement execute function ledger_balanced();

create table ledger_holds (
  id bigint generated always as identity primary key,
  idempotency_key text not null unique,
  request_hash text not null,
  account_id text not null references ledger_accounts,
  amount bigint not null check (amount > 0),
  -- what is still held of it
  remaining bigint not null check (remaining >= 0),
  status text not null default 'pending' check (status in ('pending', 'closed')),
  meta jsonb not null default '{}',
  created_at timestamptz not null,
  closed_at timestamptz
);
create index ledger_holds_pending on ledger_holds (account_id) where status = 'pending';
select system_only('ledger_holds');

-- Checkouts at the card processor. What is credited is what was stored here, never what a message says.
create table top_ups (
  checkout_id text primary key,
  address text not null,
  amount_cents integer not null check (amount_cents > 0),
  currency text not null,
  status text not null default 'open' check (status in ('open', 'paid')),
  created_at timestamptz not null,
  paid_at timestamptz,
  check ((status = 'paid') = (paid_at is not null))
);
create index top_ups_of_address on top_ups (address, created_at desc);
select system_only('top_ups');

-- Events of the card processor that were worked on: each counts once.
create table top_up_events (
  id text primary key,
  type text not null,
  created_at timestamptz not null
);
select system_only('top_up_events');

-- Money set aside for vouchers of one address. The deposit is a hold in the ledger; amounts are millionths of a dollar.
create table payment_sessions (
  id text primary key,
  address text not null,
  -- play money: never leaves the platform
  sandbox boolean not null,
  account_id text not null references ledger_accounts,
  hold_id bigint not null references ledger_holds,
  deposit bigint not null check (deposit > 0),
  -- by vouchers that count, settled ones included
  spent bigint not null default 0,
  -- the part of it that no settlement covers yet
  pending bigint not null default 0 check (pending >= 0),
  status text not null default 'active' check (status in ('active', 'settling', 'closed')),
  -- no more vouchers; closed once all settlements are done
  closing boolean not null default false,
  created_at timestamptz not null,
  last_settled_at timestamptz,
  -- as its owner wrote it; `address` is for comparing
  user_address text not null default '',
  check (spent between 0 and deposit),
  check (pending <= spent)
);
create unique index payment_sessions_one_active on payment_sessions (address) where not closing;
create index payment_sessions_of_address on payment_sessions (address, created_at desc);
select system_only('payment_sessions');

-- pending: its money becomes the platform's; sent: the stored transaction may be under way; done.
create table payment_settlements (
  id text primary key,
  session_id text not null references payment_sessions,
  units bigint not null check (units > 0),
  status text not null check (status in ('pending', 'sent', 'done')),
  transaction_hash text,
  transaction_raw text,
  transaction_nonce integer,
  transaction_from text,
  created_at timestamptz not null,
  done_at timestamptz,
  check ((status = 'sent') <= (transaction_hash is not null)),
  check ((status = 'done') = (done_at is not null))
);
create index payment_settlements_open on payment_settlements (session_id) where status <> 'done';
select system_only('payment_settlements');

-- held: the plugin works; refunded: it failed, the money is back in the session. A nonce stays used whatever happens.
create table payment_vouchers (
  id bigint generated always as identity primary key,
  session_id text not null references payment_sessions,
  nonce text not null,
  plugin text not null,
  units bigint not null check (units > 0),
  signature text not null,
  status text not null check (status in ('held', 'pending', 'settled', 'refunded')),
  settlement_id text references payment_settlements,
  created_at timestamptz not null,
  unique (session_id, nonce),
  check ((status = 'settled') = (settlement_id is not null))
);
create index payment_vouchers_pending on payment_vouchers (session_id) where status = 'pending';
create index payment_vouchers_of_session on payment_vouchers (session_id, id desc);
select system_only('payment_vouchers');

-- Plugin calls paid from the balances of a user's wallets. held: the plugin works.
create table card_payments (
  id text primary key,
  user_id text not null,
  plugin text not null,
  units bigint not null check (units > 0),
  -- [{hold, account, units}]: the wallets that it is taken from
  parts jsonb not null,
  status text not null check (status in ('held', 'paid', 'released')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index card_payments_of_user on card_payments (user_id, created_at desc);
select system_only('card_payments');

-- What an agent may spend on its own, in millionths of a dollar; null: no limit.
create table payment_policies (
  agent_id text primary key,
  user_id text not null references users on delete cascade,
  per_payment bigint check (per_payment >= 0),
  per_day bigint check (per_day >= 0),
  -- to one payee in a day
  per_payee bigint check (per_payee >= 0),
  -- above it the owner is asked
  approval_above bigint check (approval_above >= 0),
  -- only these are paid; null: anybody
  payees text[],
  updated_at timestamptz not null
);
select own_by_user('payment_policies');

-- Payments in an agent's name. pending: under way, and counted against the limits whatever becomes of it;
-- unknown: the gateway that was asked to pay did not say whether it did, and it counts as paid until the owner knows better.
create table agent_payments (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null,
  units bigint not null check (units > 0),
  currency text not null,
  recipient text not null,
  endpoint text,
  method text not null,
  status text not null check (status in ('approval', 'denied', 'pending', 'paid', 'failed', 'unknown')),
  -- what the gateway answered, or why it failed
  result jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index agent_payments_of_agent on agent_payments (user_id, agent_id, created_at desc);
select own_by_user('agent_payments');

-- Agents that joined the built-in payment gateway.
create table colony_members (
  user_id text not null references users on delete cascade,
  agent_id text not null,
  wallet_address text not null,
  joined_at timestamptz not null,
  primary key (user_id, agent_id)
);
select own_by_user('colony_members');

-- For plugin calls over HTTP 402: challenges that were handed out; each is worth one payment, for five minutes.
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
