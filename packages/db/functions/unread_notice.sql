-- Unread again, unless the same is to be read already: told anew meanwhile, or undone by another in this moment.
create or replace function unread_notice(p_id bigint) returns void language plpgsql as $$
begin
  update notices set read_at = null where id = p_id;
exception when unique_violation then
  null;
end $$;
