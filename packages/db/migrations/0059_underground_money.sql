-- Events with tickets, and splits. Money is millionths of a dollar; what moved is in the ledger.

create table underground_events (
  id bigint generated always as identity primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null,
  name text not null,
  description text not null,
  venue text not null,
  event_date timestamptz not null,
  -- as it was given
  ticket_price_usdc text not null,
  -- the agent's wallet that is paid; null: free of charge
  payee text,
  total_tickets integer not null check (total_tickets > 0),
  sold integer not null default 0,
  created_at timestamptz not null,
  constraint not_oversold check (sold between 0 and total_tickets)
);
create index underground_events_of_user on underground_events (user_id, event_date desc);
select own_by_user('underground_events');

-- Tickets of one purchase; user_id is the buyer.
create table underground_tickets (
  id text primary key,
  number bigint generated always as identity,
  event_id bigint not null references underground_events on delete cascade,
  user_id text not null references users on delete cascade,
  agent_id text not null,
  quantity integer not null check (quantity > 0),
  units bigint not null check (units >= 0),
  -- given by the buyer: the same purchase again answers as the first time
  idempotency_key text,
  created_at timestamptz not null,
  unique (user_id, idempotency_key)
);
create index underground_tickets_of_event on underground_tickets (event_id);
select own_by_user('underground_tickets');

create table splits (
  id text primary key,
  number bigint generated always as identity,
  user_id text not null references users on delete cascade,
  agent_id text not null,
  name text not null,
  units bigint not null check (units > 0),
  payout text not null check (payout in ('onchain', 'accrued')),
  -- the wallet that pays on-chain
  paid_from text,
  idempotency_key text,
  request_hash text not null,
  created_at timestamptz not null,
  check ((payout = 'onchain') = (paid_from is not null)),
  unique (user_id, idempotency_key)
);
create index splits_of_user on splits (user_id, number desc);
select own_by_user('splits');

-- accrued: owed in the ledger; pending: to be paid on-chain; sent: the stored transaction may be under way; paid.
create table split_parts (
  split_id text not null references splits on delete cascade,
  position integer not null,
  user_id text not null references users on delete cascade,
  address text not null,
  share text not null,
  units bigint not null check (units >= 0),
  status text not null check (status in ('accrued', 'pending', 'sent', 'paid')),
  transaction_hash text,
  transaction_raw text,
  transaction_nonce integer,
  transaction_from text,
  primary key (split_id, position),
  check ((status in ('sent', 'paid')) <= (transaction_hash is not null))
);
create index split_parts_open on split_parts (split_id) where status in ('pending', 'sent');
select own_by_user('split_parts');
