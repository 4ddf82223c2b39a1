-- expand: new tables; columns that are nullable or have a default
-- What somebody has beside a password: authenticator apps (TOTP) and passkeys. A row counts from confirmed_at on.
create table second_factors (
  id text primary key,
  user_id text not null references users on delete cascade,
  kind text not null check (kind in ('totp', 'passkey')),
  name text not null,
  created_at timestamptz not null,
  confirmed_at timestamptz,
  last_used_at timestamptz,
  -- totp: the sealed secret, and the last period whose code was used: no code counts twice
  secret_sealed bytea,
  last_period bigint not null default 0,
  -- passkey: its name in base64url, its public key as DER, and how often it says that it has signed
  credential_id text unique,
  public_key bytea,
  sign_count bigint not null default 0,
  transports text[] not null default '{}',
  check ((kind = 'totp') = (secret_sealed is not null)),
  check ((kind = 'passkey') = (credential_id is not null and public_key is not null))
);
create index second_factors_of_user on second_factors (user_id);
select own_by_user('second_factors');
-- A user's own queries can neither read a secret nor make a factor that nobody has shown.
revoke all on second_factors from svc_user;
grant select (id, user_id, kind, name, created_at, confirmed_at, last_used_at) on second_factors to svc_user;
create trigger refuse_beyond before insert on second_factors
  for each row execute function refuse_beyond('20', 'Too many factors (max 20)');

-- SHA-256 of a code and its owner's id; a row is a code that was not used yet.
create table recovery_codes (
  user_id text not null references users on delete cascade,
  code_hash text not null,
  created_at timestamptz not null,
  primary key (user_id, code_hash)
);
select system_only('recovery_codes');

-- Somebody has shown a password, or was vouched for, and owes the second step. The cookie's token is kept as SHA-256.
create table sign_in_steps (
  token_hash text primary key,
  user_id text not null references users on delete cascade,
  method text not null check (method in ('password', 'idp1', 'idp2', 'wallet')),
  tries integer not null default 0,
  expires_at timestamptz not null
);
create index sign_in_steps_of_user on sign_in_steps (user_id);
select system_only('sign_in_steps');
create trigger prune_links after insert on sign_in_steps for each row execute function prune_links();

-- What a passkey has to sign; a row is one that was not used yet.
create table passkey_challenges (
  challenge text primary key,
  purpose text not null check (purpose in ('add', 'sign-in', 'second-step', 'confirm')),
  -- null: whoever has a passkey
  user_id text references users on delete cascade,
  -- the session, or the step of a sign-in, that it was made for
  bound_to text,
  expires_at timestamptz not null
);
create index passkey_challenges_by_end on passkey_challenges (expires_at);
create index passkey_challenges_of_user on passkey_challenges (user_id) where user_id is not null;
select system_only('passkey_challenges');

-- Wrong codes since the first of them, over all sign-ins.
alter table users add column wrong_codes integer not null default 0, add column wrong_codes_since timestamptz;

alter table sessions
  -- when its owner last showed who they are, beside signing in
  add column confirmed_at timestamptz,
  -- how the second step was passed; null: none was owed
  add column second_step text check (second_step in ('totp', 'passkey', 'recovery'));

-- Whatever makes a session meets it, a process of the release before included.
create trigger refuse_without_second_step before insert on sessions
  for each row execute function refuse_without_second_step();
