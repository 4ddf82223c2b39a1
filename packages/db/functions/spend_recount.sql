-- Brings the counters of a cap that was just set up to what is recorded: while they were not in use (another period, no
-- cap) nobody counted in them. What was used is read once, however many counters there are.
create or replace function spend_recount(p_user text, p_scope text, p_scope_id text, p_since timestamptz) returns void
  language plpgsql as $$
begin
  perform spend_lock(p_user);
  with spent as (
    select case p_scope when 'agent' then d.agent_id when 'team' then a.team_id else '' end as id,
      sum(d.cost_micros) as micros
    from usage_daily d
    left join agents a on p_scope = 'team' and a.id = d.agent_id and a.user_id = p_user
    where d.user_id = p_user and d.day >= (p_since at time zone 'UTC')::date
      and (p_scope <> 'agent' or p_scope_id in (d.agent_id, '*'))
    group by 1
  )
  update spend_counters c set used = s.micros from spent s
  where c.user_id = p_user and c.scope = p_scope and c.scope in ('user', 'agent', 'team') and c.since = p_since
    and p_scope_id in (c.scope_id, '*') and c.scope_id = s.id and c.used < s.micros;
end $$;
