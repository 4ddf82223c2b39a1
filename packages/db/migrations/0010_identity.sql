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
  updated_at timestamptz not null
);
select own_by_user('users', 'id');
-- A user's own queries cannot make an administrator, a plan or credits, nor read the password's hash.
revoke all on users from svc_user;
grant select (id, email, name, email_verified_at, is_admin, plan, subscription_status, credit_micros, referral_code,
  notifications, created_at, updated_at) on users to svc_user;
grant update (name, notifications, updated_at) on users to svc_user;

create table sessions (
  id text primary key,
  user_id text not null references users on delete cascade,
  token_hash text not null unique,
  device text not null,
  ip text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index sessions_of_user on sessions (user_id, last_seen_at desc);
create index sessions_by_end on sessions (expires_at);
select own_by_user('sessions');

create table api_keys (
  id text primary key,
  user_id text not null references users on delete cascade,
  name text not null,
  preview text not null,
  key_hash text not null unique,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index api_keys_of_user on api_keys (user_id, created_at);
select own_by_user('api_keys');

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
  -- sealed, so that an administrator's list can show it; removed when it is used
  token_sealed bytea,
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

create table email_verifications (
  token_hash text primary key,
  user_id text not null references users on delete cascade,
  -- the address that it proves: worth nothing once the user has another
  email text not null,
  expires_at timestamptz not null
);
create index email_verifications_of_user on email_verifications (user_id);
select system_only('email_verifications');

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

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
