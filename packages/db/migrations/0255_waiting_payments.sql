-- expand, outside of a transaction: the table can be large
-- What waits for its owner is looked for whenever an inbox is read.
create index concurrently agent_payments_waiting on agent_payments (user_id, created_at, id) where status = 'approval';
