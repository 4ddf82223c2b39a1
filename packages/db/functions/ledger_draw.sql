-- Takes `p_amount` out of the hold, to be posted by the caller in the same transaction.
create or replace function ledger_draw(p_hold bigint, p_amount bigint) returns void language plpgsql as $$
declare
  v_account text;
begin
  update ledger_holds set remaining = remaining - p_amount where id = p_hold and status = 'pending' returning account_id into v_account;
  if not found then raise exception 'hold % is not pending', p_hold using errcode = 'LG004'; end if;
  update ledger_accounts set held = held - p_amount where id = v_account;
end $$;
