-- early
-- What a credential has opened ends with it: whoever holds a connection of it is told, whatever took it away (a
-- sign-out, a new password, a deleted user). The payload names it as the gateway does.
create or replace function tell_credential_ended() returns trigger language plpgsql as $$
begin
  perform pg_notify('credential_ended', tg_argv[0] || ':' || old.id);
  return null;
end $$;
