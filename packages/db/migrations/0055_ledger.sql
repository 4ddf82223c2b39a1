-- Double-entry money. Amounts are integers of the asset's smallest unit. Everything that changes a balance goes through
-- the functions below, in one round trip; triggers hold what must be true even of a query that does not.

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

create trigger append_only before update or delete or truncate on ledger_transactions
  for each statement execute function refuse_change();
create trigger append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();

-- At commit, the entries of a transaction must sum to zero for each asset.
create function ledger_balanced() returns trigger language plpgsql as $$
begin
  if exists (
    select from ledger_entries e join ledger_accounts a on a.id = e.account_id
    where e.transaction_id = new.transaction_id group by a.asset having sum(e.amount) <> 0
  ) then
    raise exception 'ledger transaction % is not balanced', new.transaction_id using errcode = 'LG001';
  end if;
  return null;
end $$;
create constraint trigger balanced after insert on ledger_entries
  deferrable initially deferred for each row execute function ledger_balanced();

-- p_entries: [{account, amount}]. Answers {id, replayed}.
create function ledger_post(p_key text, p_hash text, p_kind text, p_meta jsonb, p_entries jsonb, p_at timestamptz)
  returns jsonb language plpgsql as $$
declare
  v_id bigint;
  v_hash text;
  v_move record;
  v_balance bigint;
begin
  insert into ledger_transactions (idempotency_key, request_hash, kind, meta, created_at)
    values (p_key, p_hash, p_kind, p_meta, p_at) on conflict (idempotency_key) do nothing returning id into v_id;
  if v_id is null then
    select id, request_hash into v_id, v_hash from ledger_transactions where idempotency_key = p_key;
    if v_hash <> p_hash then raise exception 'idempotency key % was used for another request', p_key using errcode = 'LG002'; end if;
    return jsonb_build_object('id', v_id, 'replayed', true);
  end if;
  -- Always in the order of their ids, so that no two transactions wait for each other.
  for v_move in
    select value ->> 'account' as account, sum((value ->> 'amount')::bigint) as amount
    from jsonb_array_elements(p_entries) group by 1 having sum((value ->> 'amount')::bigint) <> 0 order by 1
  loop
    update ledger_accounts set balance = balance + v_move.amount where id = v_move.account returning balance into v_balance;
    if not found then raise exception 'ledger account % does not exist', v_move.account using errcode = 'LG003'; end if;
    insert into ledger_entries (transaction_id, account_id, amount, balance_after, created_at)
      values (v_id, v_move.account, v_move.amount, v_balance, p_at);
  end loop;
  return jsonb_build_object('id', v_id, 'replayed', false);
end $$;

create function ledger_hold(p_key text, p_hash text, p_account text, p_amount bigint, p_meta jsonb, p_at timestamptz)
  returns jsonb language plpgsql as $$
declare
  v_id bigint;
  v_hash text;
begin
  insert into ledger_holds (idempotency_key, request_hash, account_id, amount, remaining, meta, created_at)
    values (p_key, p_hash, p_account, p_amount, p_amount, p_meta, p_at) on conflict (idempotency_key) do nothing returning id into v_id;
  if v_id is null then
    select id, request_hash into v_id, v_hash from ledger_holds where idempotency_key = p_key;
    if v_hash <> p_hash then raise exception 'idempotency key % was used for another request', p_key using errcode = 'LG002'; end if;
    return jsonb_build_object('id', v_id, 'replayed', true);
  end if;
  update ledger_accounts set held = held + p_amount where id = p_account;
  return jsonb_build_object('id', v_id, 'replayed', false);
end $$;

-- Takes `p_amount` out of the hold, to be posted by the caller in the same transaction.
create function ledger_draw(p_hold bigint, p_amount bigint) returns void language plpgsql as $$
declare
  v_account text;
begin
  update ledger_holds set remaining = remaining - p_amount where id = p_hold and status = 'pending' returning account_id into v_account;
  if not found then raise exception 'hold % is not pending', p_hold using errcode = 'LG004'; end if;
  update ledger_accounts set held = held - p_amount where id = v_account;
end $$;

-- Gives back what is left of it; does nothing to one that is closed.
create function ledger_release(p_hold bigint, p_at timestamptz) returns bigint language plpgsql as $$
declare
  v_hold ledger_holds;
begin
  select * into v_hold from ledger_holds where id = p_hold for update;
  if not found then raise exception 'hold % does not exist', p_hold using errcode = 'LG004'; end if;
  if v_hold.status = 'closed' then return 0; end if;
  update ledger_holds set status = 'closed', remaining = 0, closed_at = p_at where id = p_hold;
  update ledger_accounts set held = held - v_hold.remaining where id = v_hold.account_id;
  return v_hold.remaining;
end $$;
