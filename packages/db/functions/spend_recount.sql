-- Brings the counters of a cap that was just set up to what is recorded: while they were not in use (another period, no
-- cap) nobody counted in them.
create or replace function spend_recount(p_user text, p_scope text, p_scope_id text, p_since timestamptz) returns void
  language plpgsql as $$
begin
  perform spend_lock(p_user);
  update spend_counters c
  set used = greatest(c.used, (
    select coalesce(sum(d.cost_micros), 0) from usage_daily d
    where d.user_id = p_user and d.day >= (p_since at time zone 'UTC')::date
      and (c.scope <> 'agent' or d.agent_id = c.scope_id)
      and (c.scope <> 'team' or d.agent_id in (
        select a.id from agents a where a.user_id = p_user and a.team_id = c.scope_id))))
  where c.user_id = p_user and c.scope = p_scope and c.scope in ('user', 'agent', 'team') and c.since = p_since
    and p_scope_id in (c.scope_id, '*');
end $$;
