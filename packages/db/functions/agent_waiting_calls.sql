-- Calls that wait for somebody's decision in these sessions. Each event is looked at once, however many wait: what was
-- decided is found by sorting, not by looking for it again with each.
create or replace function agent_waiting_calls(p_sessions text[])
  returns table (agent_id text, session_id text, seq integer, at timestamptz, data jsonb)
  language sql stable as $$
  select e.agent_id, e.session_id, e.seq, e.at, e.data
  from (
    select a.*, max(a.seq) filter (where a.type = 'run_ended') over (partition by a.session_id) as ended,
      count(*) filter (where a.type = 'approval_decided')
        over (partition by a.session_id, a.data ->> 'approvalId') as decided
    from agent_events a
    where a.session_id = any (p_sessions) and a.type in ('approval_requested', 'approval_decided', 'run_ended')
  ) e join agent_sessions s on s.id = e.session_id
  where e.type = 'approval_requested' and e.decided = 0 and e.seq > coalesce(e.ended, 0) and e.seq > s.compacted_to
$$;
