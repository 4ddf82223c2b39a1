-- A call is settled in the counters that it was set aside in. A cap that is set, or gets another period, while it is under
-- way has a counter that knows nothing of it: such a counter counts it when it is recorded, like a call without a reservation.
create or replace function spend_count(
  p_user text, p_agent text, p_run text, p_at timestamptz, p_tokens bigint, p_micros bigint, p_counted jsonb
) returns void
  language plpgsql as $$
begin
  perform spend_lock(p_user);
  update spend_counters c
  set used = c.used + case c.scope when 'tokens' then p_tokens else p_micros end
  where c.user_id = p_user
    and c.since in (spend_since('day', p_at), spend_since('month', p_at), spend_since('total', p_at))
    and c.scope_id = case c.scope when 'agent' then p_agent when 'run' then p_run
      when 'team' then (select a.team_id from agents a where a.id = p_agent and a.user_id = p_user) else '' end
    and c.scope <> 'credits'
    -- what credits paid for takes nothing from the quota
    and not (c.scope = 'tokens' and p_counted @> '[{"scope":"credits"}]')
    and not exists (
      select from jsonb_to_recordset(p_counted) as n(scope text, "scopeId" text, since timestamptz)
      where n.scope = c.scope and n."scopeId" = c.scope_id and n.since = c.since);
end $$;
