-- expand: indexes
-- Programs that were let in once and have not come for long are looked for by when they came, and what they were given by
-- whom it was given to.
create index oauth_clients_used on oauth_clients (used_at) where used_at is not null;
create index client_grants_client on client_grants (client_id);
