-- Sets the most that a call can use aside in every counter that applies and names them, or says why not. Null:
-- nothing applies, nothing is set aside.
create or replace function spend_reserve(
  p_id text, p_user text, p_agent text, p_run text, p_tokens bigint, p_micros bigint, p_token_limit bigint,
  p_now timestamptz, p_expires timestamptz
) returns jsonb
  language plpgsql as $$
declare
  cap record;
  counter spend_counters;
  taken jsonb := '[]';
  credit bigint;
begin
  perform spend_lock(p_user);
  -- A process that died never settles. What its calls cost is unknown, so they count in full.
  perform spend_settle(id, tokens, micros) from spend_reservations where user_id = p_user and expires_at < p_now;

  for cap in
    (select distinct on (c.scope) c.scope, c.period, c.limit_micros,
      case c.scope when 'agent' then p_agent when 'run' then p_run when 'team' then c.scope_id else '' end as target
    from spend_caps c
    where c.user_id = p_user and (
      c.scope = 'user'
      or (c.scope = 'agent' and p_agent is not null and c.scope_id in (p_agent, '*'))
      or (c.scope = 'run' and p_run is not null and c.scope_id = '*')
      or (c.scope = 'team' and c.scope_id = (select a.team_id from agents a where a.id = p_agent and a.user_id = p_user)))
    -- an agent's own cap counts instead of the one for each agent
    order by c.scope, c.scope_id = '*')
    union all
    -- each widget has one
    select 'widget', 'day', w.daily_cap_micros, w.id from widgets w
    where w.user_id = p_user and p_run is not null and w.id = widget_of_run(p_user, p_run)
  loop
    counter := spend_counter(p_user, cap.scope, cap.target, spend_since(cap.period, p_now));
    if counter.used + counter.reserved + p_micros > cap.limit_micros then
      return jsonb_build_object('scope', cap.scope, 'used', counter.used + counter.reserved,
        'limit', cap.limit_micros, 'resetsAt', spend_resets(cap.period, p_now));
    end if;
    taken := taken || jsonb_build_object('scope', counter.scope, 'scopeId', counter.scope_id, 'since', counter.since);
  end loop;

  if p_token_limit is not null then
    counter := spend_counter(p_user, 'tokens', '', spend_since('month', p_now));
    if counter.used + counter.reserved + p_tokens <= p_token_limit then
      taken := taken || jsonb_build_object('scope', 'tokens', 'scopeId', '', 'since', counter.since);
    else
      -- Beyond the quota credits pay, as long as they cover the whole call.
      select credit_micros into credit from users where id = p_user;
      if p_micros = 0 or coalesce(credit, 0) - (spend_counter(p_user, 'credits', '', 'epoch')).reserved < p_micros then
        return jsonb_build_object('scope', 'tokens', 'used', counter.used + counter.reserved,
          'limit', p_token_limit, 'resetsAt', spend_resets('month', p_now));
      end if;
      taken := taken || jsonb_build_object('scope', 'credits', 'scopeId', '', 'since', 'epoch'::timestamptz);
    end if;
  end if;

  if taken = '[]' then return null; end if;
  update spend_counters c
  set reserved = c.reserved + case c.scope when 'tokens' then p_tokens else p_micros end
  from jsonb_to_recordset(taken) as n(scope text, "scopeId" text, since timestamptz)
  where c.user_id = p_user and c.scope = n.scope and c.scope_id = n."scopeId" and c.since = n.since;
  insert into spend_reservations (id, user_id, tokens, micros, counters, expires_at)
  values (p_id, p_user, p_tokens, p_micros, taken, p_expires);
  return jsonb_build_object('counters', taken);
end $$;
