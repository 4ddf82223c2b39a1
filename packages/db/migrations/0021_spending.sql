-- How much may be spent, how much was, and what is set aside for calls under way.

create table spend_caps (
  user_id text not null references users on delete cascade,
  scope text not null check (scope in ('user', 'agent', 'run')),
  -- the agent's id, or * for each agent or run; empty for the user
  scope_id text not null,
  period text not null check (period in ('day', 'month', 'total')),
  limit_micros bigint not null check (limit_micros >= 0),
  updated_at timestamptz not null,
  primary key (user_id, scope, scope_id)
);
select own_by_user('spend_caps');

create table spend_counters (
  user_id text not null,
  scope text not null check (scope in ('user', 'agent', 'run', 'tokens', 'credits')),
  scope_id text not null,
  -- when the window began; the epoch for a total
  since timestamptz not null,
  used bigint not null,
  reserved bigint not null,
  primary key (user_id, scope, scope_id, since)
);
select own_by_user('spend_counters');
revoke insert, update, delete on spend_counters from svc_user;

create table spend_reservations (
  id text primary key,
  user_id text not null,
  tokens bigint not null,
  micros bigint not null,
  -- the counters that it was set aside in: [{scope, scopeId, since}]
  counters jsonb not null,
  expires_at timestamptz not null
);
create index spend_reservations_of_user on spend_reservations (user_id, expires_at);
select system_only('spend_reservations');

create function spend_since(period text, at timestamptz) returns timestamptz
  language sql immutable
  return case period
    when 'day' then date_trunc('day', at, 'UTC')
    when 'month' then date_trunc('month', at, 'UTC')
    else 'epoch'::timestamptz
  end;

create function spend_resets(period text, at timestamptz) returns timestamptz
  language sql immutable
  return case period
    when 'day' then date_trunc('day', at, 'UTC') + interval '1 day'
    when 'month' then (date_trunc('month', at, 'UTC') at time zone 'UTC' + interval '1 month') at time zone 'UTC'
  end;

-- All changes to one user's spending happen one after the other: no sum is ever read while another call adds to it.
create function spend_lock(p_user text) returns void
  language sql
  begin atomic
    select pg_advisory_xact_lock(hashtextextended('spend:' || p_user, 0));
  end;

-- The counter of that window, made from what was recorded before anybody asked to count.
create function spend_counter(p_user text, p_scope text, p_scope_id text, p_since timestamptz) returns spend_counters
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
  where d.user_id = p_user and d.day >= first_day and p_scope in ('user', 'agent', 'tokens')
    and (p_scope <> 'agent' or d.agent_id = p_scope_id)
  returning * into result;
  return result;
end $$;

-- Gives back what was set aside and counts what was used. Does nothing for a reservation that is already settled.
create function spend_settle(p_id text, p_tokens bigint, p_micros bigint) returns void
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

-- Sets the most that a call can use aside in every counter that applies and answers {}, or says why not. Null: nothing
-- applies, nothing is set aside.
create function spend_reserve(
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
    select distinct on (c.scope) c.scope, c.period, c.limit_micros,
      case c.scope when 'agent' then p_agent when 'run' then p_run else '' end as target
    from spend_caps c
    where c.user_id = p_user and (
      c.scope = 'user'
      or (c.scope = 'agent' and p_agent is not null and c.scope_id in (p_agent, '*'))
      or (c.scope = 'run' and p_run is not null and c.scope_id = '*'))
    -- an agent's own cap counts instead of the one for each agent
    order by c.scope, c.scope_id = '*'
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
  return '{}';
end $$;
