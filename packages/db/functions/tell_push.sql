-- early
-- Only for whoever has a browser to be told by and did not say otherwise; what nobody takes up does not pile up.
create or replace function tell_push(p_user text, p_kind text, p_otherwise boolean, p_data jsonb) returns void
  language plpgsql as $$
begin
  insert into push_messages (id, user_id, kind, data, at)
    select gen_random_uuid()::text, u.id, p_kind, p_data, now() from users u
    where u.id = p_user and exists (select from push_subscriptions s where s.user_id = p_user)
      and coalesce(u.notifications -> ('push_' || p_kind), to_jsonb(p_otherwise)) = 'true'
      and (select count(*) from (
        select from push_messages m where m.user_id = p_user and m.queued_at is null limit 100) waiting) < 100;
  if found then perform pg_notify('pushes', ''); end if;
end $$;
