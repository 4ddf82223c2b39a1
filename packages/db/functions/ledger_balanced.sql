-- early
-- The entries of a transaction, all added by one statement, sum to zero for each asset.
create or replace function ledger_balanced() returns trigger language plpgsql as $$
begin
  if exists (
    select from added e join ledger_accounts a on a.id = e.account_id
    group by e.transaction_id, a.asset having sum(e.amount) <> 0
  ) then
    raise exception 'ledger transaction % is not balanced', (select min(transaction_id) from added) using errcode = 'LG001';
  end if;
  return null;
end $$;
