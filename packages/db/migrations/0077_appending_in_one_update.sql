-- As before, but the row of the session is written once: an update that finds it as expected needs no lock beforehand.
create or replace function agent_append(
  p_session text, p_owner text, p_expected integer, p_events jsonb, p_status text, p_release boolean,
  p_tokens bigint, p_day date
) returns integer[]
  language plpgsql set enable_seqscan = off as $$
declare
  s agent_sessions;
  stored integer := p_expected + jsonb_array_length(p_events);
begin
  update agent_sessions set
    last_seq = stored,
    status = coalesce(p_status, status),
    lease_owner = case when p_release then null else lease_owner end,
    compacted_to = case when p_events @> '[{"type": "compaction"}]' then greatest(compacted_to,
      (select max((value ->> 'upTo')::integer) from jsonb_array_elements(p_events)
        where value ->> 'type' = 'compaction')) else compacted_to end,
    updated_at = now()
    where id = p_session and lease_owner = p_owner and last_seq = p_expected
    returning * into s;
  if not found then
    return array[case when exists (select from agent_sessions where id = p_session and lease_owner = p_owner)
      then -1 else -2 end, 0];
  end if;
  s.last_seq := p_expected;
  perform agent_store_events(s, p_events, null);
  if p_tokens > 0 then
    insert into agent_days (agent_id, user_id, day, tokens) values (s.agent_id, s.user_id, p_day, p_tokens)
      on conflict (agent_id, day) do update set tokens = agent_days.tokens + excluded.tokens;
  end if;
  return array[stored, case when p_release then 0
    else coalesce((select max(version) from agent_definitions where agent_id = s.agent_id), 0) end];
end $$;
