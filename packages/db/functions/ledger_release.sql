-- Gives back what is left of it; does nothing to one that is closed.
create or replace function ledger_release(p_hold bigint, p_at timestamptz) returns bigint language plpgsql as $$
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
