-- early
-- Writes down what is told of a row.
create or replace function tell_push_of_approval() returns trigger language plpgsql as $$
begin
  perform tell_push(new.user_id, 'approval', true, jsonb_build_object('agentId', new.agent_id,
    'approvalId', new.data ->> 'approvalId', 'tool', new.data ->> 'tool', 'asks', case when new.data ? 'question' then 'yes' else '' end));
  return null;
end $$;
