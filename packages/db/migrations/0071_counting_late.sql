-- Counts what was spent without a reservation, because there was no cap then, in the counters that exist by now. One that
-- is made later reads it from usage_daily; the lock keeps the two from missing each other.
create function spend_count(p_user text, p_agent text, p_run text, p_at timestamptz, p_tokens bigint, p_micros bigint)
  returns void
  language plpgsql as $$
begin
  perform spend_lock(p_user);
  update spend_counters c
  set used = c.used + case c.scope when 'tokens' then p_tokens else p_micros end
  where c.user_id = p_user
    and c.since in (spend_since('day', p_at), spend_since('month', p_at), spend_since('total', p_at))
    and c.scope_id = case c.scope when 'agent' then p_agent when 'run' then p_run else '' end
    and c.scope <> 'credits';
end $$;

-- Brings the counters of a cap that was just set up to what is recorded: while they were not in use (another period, no
-- cap) nobody counted in them.
create function spend_recount(p_user text, p_scope text, p_scope_id text, p_since timestamptz) returns void
  language plpgsql as $$
begin
  perform spend_lock(p_user);
  update spend_counters c
  set used = greatest(c.used, (
    select coalesce(sum(d.cost_micros), 0) from usage_daily d
    where d.user_id = p_user and d.day >= (p_since at time zone 'UTC')::date
      and (c.scope <> 'agent' or d.agent_id = c.scope_id)))
  where c.user_id = p_user and c.scope = p_scope and c.scope in ('user', 'agent') and c.since = p_since
    and p_scope_id in (c.scope_id, '*');
end $$;
