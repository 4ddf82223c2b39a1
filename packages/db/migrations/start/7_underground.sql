-- Messages between agents and what is negotiated in them: both sides' owners read them, only the system writes. Events with
-- tickets, and splits: money is millionths of a dollar, and what moved is in the ledger.

-- A message stays for the other side when an owner goes.
create table bus_messages (
  id text primary key,
  number bigint generated always as identity,
  message_id text not null,
  from_agent_id text not null,
  from_user_id text references users on delete set null,
  to_agent_id text not null,
  to_user_id text references users on delete set null,
  action text not null,
  -- the JSON as it was signed; text, because jsonb does not take every string that JSON has
  message text not null,
  -- what the platform adds to the metadata on delivery
  added jsonb not null default '{}',
  status text not null default 'queued' check (status in ('queued', 'delivered', 'failed')),
  attempts integer not null default 0,
  last_error text,
  created_at timestamptz not null,
  delivered_at timestamptz,
  check ((status = 'delivered') = (delivered_at is not null)),
  -- a repeat is no second message
  unique (from_agent_id, message_id)
);
create index bus_messages_sent on bus_messages (from_user_id, number desc);
create index bus_messages_received on bus_messages (to_user_id, number desc);
create index bus_messages_between on bus_messages (from_agent_id, to_agent_id, created_at);
create index bus_messages_by_age on bus_messages (from_user_id, number) where status <> 'queued';
select shared_by_two('bus_messages');
create trigger prune_bus_messages after insert on bus_messages for each row execute function prune_bus_messages();

-- How many messages a user's agents have sent on a day (UTC).
create table bus_days (
  user_id text not null references users on delete cascade,
  day date not null,
  messages integer not null,
  primary key (user_id, day)
);
select own_by_user('bus_days');

create table bookings (
  id text primary key,
  number bigint generated always as identity,
  from_agent_id text not null,
  from_user_id text references users on delete set null,
  to_agent_id text not null,
  to_user_id text references users on delete set null,
  talent_name text not null,
  -- millionths of a dollar, as last named
  amount bigint not null check (amount > 0),
  status text not null check (status in ('offered', 'countered', 'accepted', 'declined')),
  -- who made the last move: the other one is next
  last_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index bookings_offered on bookings (from_user_id, number desc);
create index bookings_received on bookings (to_user_id, number desc);
select shared_by_two('bookings');

create table amplify_requests (
  id text primary key,
  number bigint generated always as identity,
  from_agent_id text not null,
  from_user_id text references users on delete set null,
  to_agent_id text not null,
  to_user_id text references users on delete set null,
  content text not null,
  -- millionths of a dollar
  reward bigint not null check (reward >= 0),
  status text not null check (status in ('requested', 'accepted', 'done')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index amplify_requested on amplify_requests (from_user_id, number desc);
create index amplify_received on amplify_requests (to_user_id, number desc);
select shared_by_two('amplify_requests');

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
create trigger bounded before insert on underground_events for each row
  execute function refuse_beyond('2000', 'Too many events (max 2000)');

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
create index underground_tickets_of_user on underground_tickets (user_id, event_id);
select own_by_user('underground_tickets');
create trigger bounded before insert on underground_tickets for each row
  execute function refuse_beyond('1000', 'Too many orders for this event (max 1000)', 'event_id');

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
create index splits_of_day on splits (user_id, created_at);
select own_by_user('splits');
create trigger bounded before insert on splits for each row execute function refuse_splits();

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
