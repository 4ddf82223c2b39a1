-- As its owner wrote it; `address` is for comparing.
alter table payment_sessions add column user_address text not null default '';

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

-- Payments in an agent's name. pending: under way, and counted against the limits whatever becomes of it.
create table agent_payments (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null,
  units bigint not null check (units > 0),
  currency text not null,
  recipient text not null,
  endpoint text,
  method text not null,
  status text not null check (status in ('approval', 'denied', 'pending', 'paid', 'failed')),
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

-- As before, with the weaker lock that an update takes: the key of an account never changes.
create or replace function ledger_capture(
  p_hold bigint, p_amount bigint, p_key text, p_hash text, p_kind text, p_meta jsonb, p_entries jsonb, p_at timestamptz
) returns jsonb language plpgsql as $$
declare
  v_account text;
begin
  select account_id into v_account from ledger_holds where id = p_hold for no key update;
  if not exists (select from ledger_transactions where idempotency_key = p_key) then
    perform from ledger_accounts
      where id = v_account or id in (select value ->> 'account' from jsonb_array_elements(p_entries))
      order by id for no key update;
    perform ledger_draw(p_hold, p_amount);
  end if;
  return ledger_post(p_key, p_hash, p_kind, p_meta, p_entries, p_at);
end $$;
