-- early
-- Tells those whose pages are open, and nobody otherwise.
create or replace function live_tell(p_user text, p_topic text) returns void language plpgsql as $$
begin
  if exists (select from live_readers where user_id = p_user and until > now()) then
    perform pg_notify('live', p_user || ' ' || p_topic);
  end if;
end $$;
