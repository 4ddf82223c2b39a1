-- Moves money: p_amounts[n] into p_accounts[n], each account once. Answers the transaction, and whether it had happened before.
-- Accounts are locked before the key is stored, as ledger_post_all and ledger_capture do: who stored a key and then waited for
-- an account would stop one who has that account and waits for the key.
create or replace function ledger_post(
  p_key text, p_hash text, p_kind text, p_meta jsonb, p_accounts text[], p_amounts bigint[], p_at timestamptz,
  out done bigint, out replayed boolean
) language plpgsql as $$
declare
  v_hash text;
  v_move record;
  v_balance bigint;
  v_accounts text[] := '{}';
  v_amounts bigint[] := '{}';
  v_after bigint[] := '{}';
begin
  replayed := false;
  if not exists (select from ledger_transactions where idempotency_key = p_key) then
    -- Always in the order of their ids, so that no two transactions wait for each other.
    perform from ledger_accounts where id = any (p_accounts) order by id for no key update;
  end if;
  insert into ledger_transactions (idempotency_key, request_hash, kind, meta, created_at)
    values (p_key, p_hash, p_kind, p_meta, p_at) on conflict (idempotency_key) do nothing returning id into done;
  if done is null then
    select id, request_hash into done, v_hash from ledger_transactions where idempotency_key = p_key;
    if v_hash <> p_hash then raise exception 'idempotency key % was used for another request', p_key using errcode = 'LG002'; end if;
    replayed := true;
    return;
  end if;
  for v_move in select account, amount from unnest(p_accounts, p_amounts) as m (account, amount) order by account loop
    update ledger_accounts set balance = balance + v_move.amount where id = v_move.account returning balance into v_balance;
    if not found then raise exception 'ledger account % does not exist', v_move.account using errcode = 'LG003'; end if;
    v_accounts := v_accounts || v_move.account;
    v_amounts := v_amounts || v_move.amount;
    v_after := v_after || v_balance;
  end loop;
  insert into ledger_entries (transaction_id, account_id, amount, balance_after, created_at)
    select done, account, amount, after, p_at from unnest(v_accounts, v_amounts, v_after) as e (account, amount, after);
end $$;
