-- expand, outside of a transaction: tables can be large
-- Without them, deleting a user or an agent reads each of these tables from end to end.
create index concurrently access_requests_decided_by on access_requests (decided_by) where decided_by is not null;
create index concurrently agent_door_days_of_user on agent_door_days (user_id);
create index concurrently agent_doors_of_user on agent_doors (user_id);
create index concurrently client_codes_of_user on client_codes (user_id);
create index concurrently client_tokens_of_user on client_tokens (user_id);
create index concurrently conversation_shares_of_user on conversation_shares (user_id);
create index concurrently devices_of_agent on devices (agent_id) where agent_id is not null;
create index concurrently heartbeats_of_user on heartbeats (user_id);
create index concurrently invites_by_user on invites (user_id) where user_id is not null;
create index concurrently payment_policies_of_user on payment_policies (user_id);
create index concurrently payment_settlements_by_session on payment_settlements (session_id);
create index concurrently payment_vouchers_of_settlement on payment_vouchers (settlement_id) where settlement_id is not null;
create index concurrently split_parts_of_user on split_parts (user_id);
create index concurrently webhook_deliveries_of_user on webhook_deliveries (user_id);
