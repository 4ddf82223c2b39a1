-- Decides an approval once, or answers a question; null: there is none, empty: it was decided before.
create or replace function agent_decide(p_agent text, p_approval text, p_approved boolean, p_by text, p_answer text)
  returns text language plpgsql as $$
declare
  asked agent_events;
  s agent_sessions;
begin
  select * into asked from agent_events
    where agent_id = p_agent and type = 'approval_requested' and data ->> 'approvalId' = p_approval;
  if not found then return null; end if;
  select * into s from agent_sessions where id = asked.session_id for update;
  if exists (select from agent_events e where e.session_id = s.id and e.seq > asked.seq
      and (e.type = 'run_ended' or (e.type = 'approval_decided' and e.data ->> 'approvalId' = p_approval))) then
    return '';
  end if;
  perform agent_store_events(s, jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('type', 'approval_decided',
    'approvalId', p_approval, 'callId', asked.data ->> 'callId', 'approved', p_approved, 'by', p_by,
    'answer', p_answer))), null);
  update agent_sessions set last_seq = last_seq + 1, status = 'open', updated_at = now() where id = s.id;
  return s.id;
end $$;
