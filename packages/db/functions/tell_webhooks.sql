-- early
-- An endpoint that takes nothing for so long is told nothing more until it does.
create or replace function tell_webhooks(p_user text, p_type text, p_data jsonb) returns void language plpgsql as $$
begin
  insert into webhook_deliveries (id, endpoint_id, user_id, type, data, at)
    select 'msg_' || replace(gen_random_uuid()::text, '-', ''), e.id, e.user_id, p_type, p_data, now()
    from webhook_endpoints e
    where e.user_id = p_user and e.enabled and p_type = any (e.events)
      and (select count(*) from (
        select from webhook_deliveries d where d.endpoint_id = e.id and d.status = 'pending' limit 1000) waiting) < 1000;
  if found then perform pg_notify('webhooks', ''); end if;
end $$;
