-- The counter of that window, made from what was recorded before anybody asked to count.
create or replace function spend_counter(p_user text, p_scope text, p_scope_id text, p_since timestamptz) returns spend_counters
  language plpgsql as $$
declare
  result spend_counters;
  first_day date := (p_since at time zone 'UTC')::date;
begin
  select * into result from spend_counters c
  where c.user_id = p_user and c.scope = p_scope and c.scope_id = p_scope_id and c.since = p_since;
  if found then return result; end if;
  insert into spend_counters (user_id, scope, scope_id, since, used, reserved)
  select p_user, p_scope, p_scope_id, p_since, coalesce(sum(
    case p_scope when 'tokens' then d.input_tokens + d.output_tokens else d.cost_micros end), 0), 0
  from usage_daily d
  where d.user_id = p_user and d.day >= first_day and p_scope in ('user', 'agent', 'tokens', 'team')
    and (p_scope <> 'agent' or d.agent_id = p_scope_id)
    and (p_scope <> 'team' or d.agent_id in (select a.id from agents a where a.user_id = p_user and a.team_id = p_scope_id))
  returning * into result;
  return result;
end $$;
