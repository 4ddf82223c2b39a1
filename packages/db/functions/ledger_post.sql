-- Moves money. p_entries: [{account, amount}]. Answers {id, replayed}.
create or replace function ledger_post(p_key text, p_hash text, p_kind text, p_meta jsonb, p_entries jsonb, p_at timestamptz)
  returns jsonb language plpgsql as $$
declare
  v_id bigint;
  v_hash text;
  v_accounts text[];
  v_amounts bigint[];
  v_after bigint[] := '{}';
  v_balance bigint;
begin
  insert into ledger_transactions (idempotency_key, request_hash, kind, meta, created_at)
    values (p_key, p_hash, p_kind, p_meta, p_at) on conflict (idempotency_key) do nothing returning id into v_id;
  if v_id is null then
    select id, request_hash into v_id, v_hash from ledger_transactions where idempotency_key = p_key;
    if v_hash <> p_hash then raise exception 'idempotency key % was used for another request', p_key using errcode = 'LG002'; end if;
    return jsonb_build_object('id', v_id, 'replayed', true);
  end if;
  select array_agg(account order by account), array_agg(amount order by account) into v_accounts, v_amounts from (
    select value ->> 'account' as account, sum((value ->> 'amount')::bigint)::bigint as amount
    from jsonb_array_elements(p_entries) group by 1) moves where amount <> 0;
  -- Always in the order of their ids, so that no two transactions wait for each other.
  for i in 1 .. coalesce(array_length(v_accounts, 1), 0) loop
    update ledger_accounts set balance = balance + v_amounts[i] where id = v_accounts[i] returning balance into v_balance;
    if not found then raise exception 'ledger account % does not exist', v_accounts[i] using errcode = 'LG003'; end if;
    v_after[i] := v_balance;
  end loop;
  insert into ledger_entries (transaction_id, account_id, amount, balance_after, created_at)
    select v_id, unnest(v_accounts), unnest(v_amounts), unnest(v_after), p_at;
  return jsonb_build_object('id', v_id, 'replayed', false);
end $$;
