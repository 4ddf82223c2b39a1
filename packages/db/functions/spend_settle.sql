-- Gives back what was set aside and counts what was used. Does nothing for a reservation that is already settled.
create or replace function spend_settle(p_id text, p_tokens bigint, p_micros bigint) returns void
  language plpgsql as $$
declare
  r spend_reservations;
begin
  select * into r from spend_reservations where id = p_id;
  if not found then return; end if;
  perform spend_lock(r.user_id);
  delete from spend_reservations where id = p_id;
  if not found then return; end if;
  update spend_counters c
  set reserved = c.reserved - case c.scope when 'tokens' then r.tokens else r.micros end,
      used = c.used + case c.scope when 'tokens' then p_tokens else p_micros end
  from jsonb_to_recordset(r.counters) as n(scope text, "scopeId" text, since timestamptz)
  where c.user_id = r.user_id and c.scope = n.scope and c.scope_id = n."scopeId" and c.since = n.since;
  if r.counters @> '[{"scope":"credits"}]' then
    update users set credit_micros = greatest(credit_micros - p_micros, 0) where id = r.user_id;
  end if;
end $$;
