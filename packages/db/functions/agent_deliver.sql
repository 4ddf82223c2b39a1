-- Adds from outside, whoever works on the session, and claims it too when it is free.
create or replace function agent_deliver(
  p_agent text, p_user text, p_session text, p_channel text, p_key text, p_new_id text, p_events jsonb,
  p_input text, p_status text, p_owner text, p_ttl_ms integer, p_day date,
  p_words text, p_team_scope text, p_recalled integer, p_now timestamptz
) returns json
  language plpgsql set enable_seqscan = off as $$
declare
  s agent_sessions;
  stored integer;
  known integer;
  claims boolean;
begin
  if p_session is null then
    select * into s from agent_sessions where agent_id = p_agent and channel = p_channel and key = p_key for update;
    if not found then
      insert into agent_sessions (id, agent_id, user_id, channel, key)
        values (p_new_id, p_agent, p_user, p_channel, p_key) on conflict (agent_id, channel, key) do nothing
        returning * into s;
      if not found then
        select * into s from agent_sessions
          where agent_id = p_agent and channel = p_channel and key = p_key for update;
      end if;
    end if;
  else
    select * into s from agent_sessions where id = p_session and agent_id = p_agent for update;
  end if;
  if s.id is null then return null; end if;
  if p_input is not null then
    select seq into known from agent_events where session_id = s.id and input_id = p_input;
  end if;
  claims := p_owner is not null and (s.lease_owner is null or s.lease_until < clock_timestamp())
    and (case when known is null then coalesce(p_status, s.status) else s.status end) = 'open'
    and exists (select from agent_definitions where agent_id = p_agent);
  stored := case when known is null then agent_store_events(s, p_events, p_input) else s.last_seq end;
  if known is null or claims then
    update agent_sessions set
      last_seq = stored,
      status = case when known is null then coalesce(p_status, status) else status end,
      updated_at = case when known is null then now() else updated_at end,
      lease_owner = case when claims then p_owner else lease_owner end,
      lease_until = case when claims
        then clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0) else lease_until end
      where id = s.id returning * into s;
  end if;
  return json_build_object('session', agent_session_json(s), 'seq', coalesce(known, stored),
    'duplicate', known is not null,
    'work', case when claims then agent_work(s, p_day, p_words, p_team_scope, p_recalled, p_now) end);
end $$;
