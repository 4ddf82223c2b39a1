-- A part of a hold becomes a posting. The hold's row comes first, so that the same key at once draws once; then all
-- accounts in the order of their ids, as ledger_post takes them. The locks are those that an update takes: the key of an
-- account never changes.
create or replace function ledger_capture(
  p_hold bigint, p_amount bigint, p_key text, p_hash text, p_kind text, p_meta jsonb, p_accounts text[], p_amounts bigint[],
  p_at timestamptz, out done bigint, out replayed boolean
) language plpgsql as $$
declare
  v_account text;
begin
  select account_id into v_account from ledger_holds where id = p_hold for no key update;
  if not exists (select from ledger_transactions where idempotency_key = p_key) then
    perform from ledger_accounts where id = v_account or id = any (p_accounts) order by id for no key update;
    perform ledger_draw(p_hold, p_amount);
  end if;
  select p.done, p.replayed into done, replayed
    from ledger_post(p_key, p_hash, p_kind, p_meta, p_accounts, p_amounts, p_at) as p;
end $$;
