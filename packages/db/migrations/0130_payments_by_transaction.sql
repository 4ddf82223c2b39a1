-- expand: payments have more columns, and one state more
-- A payment over HTTP 402 may be a whole transaction of the payer's (TIP-20 knows no signed transfers): then the money
-- moves first, and goes back when no answer came of it. refunded: what was paid is owed to the payer.
alter table gateway_payments
  add column kind text not null default 'authorization' check (kind in ('authorization', 'transaction')),
  -- after it the payer's transaction can never happen
  add column valid_before timestamptz,
  add column served_at timestamptz,
  drop constraint gateway_payments_status_check,
  add constraint gateway_payments_status_check
    check (status in ('verified', 'sent', 'settled', 'released', 'refunded')),
  add constraint gateway_payments_refunds check (status <> 'refunded' or (kind = 'transaction' and served_at is null));
