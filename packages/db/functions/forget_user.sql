-- early
-- What has no reference to users goes with its user, too.
create or replace function forget_user() returns trigger language plpgsql security definer as $$
begin
  delete from agent_configs where user_id = old.id;
  delete from config_backups where user_id = old.id;
  delete from devices where user_id = old.id;
  return old;
end $$;
