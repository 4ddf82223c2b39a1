-- expand: a column that is nullable, and an index over few rows
-- Set while an account is closed: when it is erased.
alter table users add column erase_at timestamptz;
create index users_to_erase on users (erase_at) where erase_at is not null;
grant select (erase_at) on users to svc_user;
