-- expand: a new table
-- Wrong passwords for one e-mail address, from whichever addresses they came, and whether or not anybody has it. Of the
-- e-mail address there is only the hash.
create table password_guesses (
  email_hash text primary key,
  count integer not null,
  expires_at timestamptz not null
);
select system_only('password_guesses');
create index password_guesses_over on password_guesses (expires_at);
