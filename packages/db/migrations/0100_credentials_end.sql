-- What a credential has opened ends with it: whoever holds a connection of it is told, whatever took it away (a
-- sign-out, a new password, a deleted user). The payload names it as the gateway does.
create function tell_credential_ended() returns trigger language plpgsql as $$
begin
  perform pg_notify('credential_ended', tg_argv[0] || ':' || old.id);
  return null;
end $$;

create trigger tell_ended after delete on sessions
  for each row execute function tell_credential_ended('session');
create trigger tell_ended after delete on api_keys
  for each row execute function tell_credential_ended('key');
create trigger tell_ended after update of token_hash on agents
  for each row when (old.token_hash is distinct from new.token_hash)
  execute function tell_credential_ended('owner');
create trigger tell_ended after update of token_hash on devices
  for each row when (old.token_hash is not null and old.token_hash is distinct from new.token_hash)
  execute function tell_credential_ended('device');
create trigger tell_gone after delete on devices
  for each row when (old.token_hash is not null) execute function tell_credential_ended('device');
