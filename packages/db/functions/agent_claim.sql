-- Takes the lease of a session; null: another holds it.
create or replace function agent_claim(p_agent text, p_session text, p_owner text, p_ttl_ms integer, p_day date) returns json
  language plpgsql set enable_seqscan = off as $$
declare
  s agent_sessions;
begin
  update agent_sessions
    set lease_owner = p_owner, lease_until = clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0)
    where id = p_session and agent_id = p_agent and (lease_owner is null or lease_until < clock_timestamp())
      and exists (select from agent_definitions where agent_id = p_agent)
    returning * into s;
  if not found then return null; end if;
  return json_build_object('session', agent_session_json(s), 'work', agent_work(s, p_day, '', '', 0, now()));
end $$;
