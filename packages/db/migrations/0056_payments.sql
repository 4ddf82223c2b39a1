-- A part of a hold becomes a posting. The hold's row comes first, so that the same key at once draws once; then all
-- accounts in the order of their ids, as ledger_post takes them.
create function ledger_capture(
  p_hold bigint, p_amount bigint, p_key text, p_hash text, p_kind text, p_meta jsonb, p_entries jsonb, p_at timestamptz
) returns jsonb language plpgsql as $$
declare
  v_account text;
begin
  select account_id into v_account from ledger_holds where id = p_hold for update;
  if not exists (select from ledger_transactions where idempotency_key = p_key) then
    perform from ledger_accounts
      where id = v_account or id in (select value ->> 'account' from jsonb_array_elements(p_entries))
      order by id for update;
    perform ledger_draw(p_hold, p_amount);
  end if;
  return ledger_post(p_key, p_hash, p_kind, p_meta, p_entries, p_at);
end $$;

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
