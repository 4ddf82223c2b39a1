-- People, and what proves who they are. Tokens are kept as SHA-256 hashes in hex.

create table users (
  id text primary key,
  -- trimmed and lower-cased by the service
  email text not null unique,
  name text not null,
  -- null: signs in another way
  password_hash text,
  email_verified_at timestamptz,
  is_admin boolean not null default false,
  plan text check (plan in ('solo', 'collective', 'label', 'network')),
  subscription_status text not null default 'inactive'
    check (subscription_status in ('active', 'inactive', 'past_due', 'cancelled')),
  -- in millionths of a US dollar; one credit is 100,000
  credit_micros bigint not null default 0 check (credit_micros >= 0),
  referral_code text not null unique,
  notifications jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- set while the general identity provider says that the account there was taken over
  idp2_disabled_at timestamptz,
  -- where the newest provisioned agent is reached
  instance_id text,
  instance_url text
);
-- otherwise each agent that is deleted looks at all users
create index users_instance on users (instance_id) where instance_id is not null;
select own_by_user('users', 'id');
-- A user's own queries cannot make an administrator, a plan or credits, nor read the password's hash.
revoke all on users from svc_user;
grant select (id, email, name, email_verified_at, is_admin, plan, subscription_status, credit_micros, referral_code,
  notifications, created_at, updated_at, instance_id, instance_url) on users to svc_user;
grant update (name, notifications, updated_at) on users to svc_user;

create trigger tell_live after update of plan, subscription_status on users
  for each row when ((old.plan, old.subscription_status) is distinct from (new.plan, new.subscription_status))
  execute function tell_live('account', 'id');

-- Last seen moves all the time: with no index on it and room in the page, an update touches one page and no index.
create table sessions (
  id text primary key,
  user_id text not null references users on delete cascade,
  token_hash text not null unique,
  device text not null,
  ip text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
) with (fillfactor = 80);
create index sessions_of_user on sessions (user_id);
create index sessions_by_end on sessions (expires_at);
select own_by_user('sessions');
create trigger prune_sessions after insert on sessions for each row execute function prune_sessions();
create trigger tell_ended after delete on sessions
  for each row execute function tell_credential_ended('session');

create table api_keys (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  preview text not null,
  key_hash text not null unique,
  created_at timestamptz not null,
  last_used_at timestamptz,
  -- pages that may call /v1 with this key from a browser; '*': all of them
  origins text[] not null default '{}'
) with (fillfactor = 90);
create index api_keys_of_user on api_keys (user_id, created_at);
select own_by_user('api_keys');
create trigger tell_ended after delete on api_keys
  for each row execute function tell_credential_ended('key');

create table account_links (
  id text primary key,
  user_id text not null references users on delete cascade,
  -- idp1, idp2, wallet
  provider text not null,
  -- who the user is at the provider: its subject, or an address
  subject text not null,
  -- sealed JSON of the provider's tokens and what it says about them
  tokens bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (provider, subject)
);
create index account_links_of_user on account_links (user_id);
select own_by_user('account_links');

create table invites (
  id text primary key,
  -- who made it
  user_id text not null references users on delete cascade,
  token_hash text not null unique,
  -- sealed, so that an administrator's list can show it; kept after use, when it opens nothing
  token_sealed bytea not null,
  by_admin boolean not null,
  name text,
  email text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  used_by text references users on delete set null
);
create index invites_of_user on invites (user_id) where used_at is null;
create index invites_by_time on invites (created_at desc);
create index invites_used_by on invites (used_by) where used_by is not null;
select own_by_user('invites');

create table password_resets (
  token_hash text primary key,
  user_id text not null references users on delete cascade,
  expires_at timestamptz not null
);
create index password_resets_of_user on password_resets (user_id);
select system_only('password_resets');
create trigger prune_links after insert on password_resets for each row execute function prune_links();

create table email_verifications (
  token_hash text primary key,
  user_id text not null references users on delete cascade,
  -- the address that it proves: worth nothing once the user has another
  email text not null,
  expires_at timestamptz not null
);
create index email_verifications_of_user on email_verifications (user_id);
select system_only('email_verifications');
create trigger prune_links after insert on email_verifications for each row execute function prune_links();

-- Who brought whom, by a referral code or an invite; credited once the newcomer's address is verified.
create table referrals (
  user_id text primary key references users on delete cascade,
  giver_id text not null references users on delete cascade,
  created_at timestamptz not null,
  credited_at timestamptz,
  giver_micros bigint not null default 0
);
create index referrals_of_giver on referrals (giver_id, credited_at);
select system_only('referrals');

-- No reference to users: what happened stays on record when the user is gone.
create table audit_log (
  id bigint generated always as identity primary key,
  -- whose account it is about
  user_id text,
  -- who did it, when it was somebody else
  actor_id text,
  action text not null,
  detail jsonb not null default '{}',
  ip text,
  created_at timestamptz not null
);
create index audit_log_of_user on audit_log (user_id, id desc);
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy user_reads on audit_log for select to svc_user using (user_id = app_user_id());
create policy user_adds on audit_log for insert to svc_user with check (user_id = app_user_id());
create policy system_reads on audit_log for select to svc_system using (true);
create policy system_adds on audit_log for insert to svc_system with check (true);
grant select, insert on audit_log to svc_user, svc_system;
create trigger append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- Security events of the general identity provider, each once.
create table risc_events (
  jti text primary key,
  -- they are acted on in this order
  seq bigint generated always as identity,
  -- the event map of the token, as it was signed
  events jsonb not null,
  -- the older receiver knows people by their address alone
  by_email_only boolean not null,
  received_at timestamptz not null,
  processed_at timestamptz
);
create index risc_events_waiting on risc_events (seq) where processed_at is null;
select system_only('risc_events');

-- Handed out for wallet sign-in; a row is a nonce that was not used yet.
create table wallet_nonces (
  nonce text primary key,
  expires_at timestamptz not null
);
create index wallet_nonces_by_end on wallet_nonces (expires_at);
select system_only('wallet_nonces');

-- Refresh tokens of federated sessions, as SHA-256 hashes; a row is one that was not used yet.
create table federated_refresh_tokens (
  token_hash text primary key,
  -- what the identity token said, and what was found out about it
  subject text not null,
  fid text not null,
  address text,
  verified boolean not null,
  -- of the sign-in: refreshing does not put it off
  expires_at timestamptz not null
);
create index federated_refresh_tokens_by_end on federated_refresh_tokens (expires_at);
select system_only('federated_refresh_tokens');

-- Who has no plan where nothing is sold asks the administrators for one. One row for each person: the newest request.
create table access_requests (
  user_id text primary key references users on delete cascade,
  note text not null,
  asked_at timestamptz not null,
  state text not null check (state in ('asked', 'granted', 'refused')),
  decided_at timestamptz,
  decided_by text references users on delete set null,
  -- what the administrator says to a refusal
  answer text not null default ''
);
select own_by_user('access_requests');
create index access_requests_waiting on access_requests (asked_at) where state = 'asked';
create trigger tell_live after insert or update on access_requests
  for each row execute function tell_live('account', 'user_id');
create trigger tell_administrators after insert or update on access_requests
  for each row execute function tell_administrators('joining');
