-- Sets money of an account aside. Answers {id, replayed}.
create or replace function ledger_hold(p_key text, p_hash text, p_account text, p_amount bigint, p_meta jsonb, p_at timestamptz)
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
