-- early
-- Writes down what is told of a row. Few have somebody to tell: that is asked first, since every answer comes by here.
create or replace function tell_webhooks_of_run() returns trigger language plpgsql as $$
begin
  if exists (select from webhook_endpoints where user_id = new.user_id and enabled) then
    perform tell_webhooks(new.user_id,
      case new.type when 'run_ended' then 'run.finished' else 'approval.waiting' end,
      jsonb_strip_nulls(jsonb_build_object('id', new.session_id || ':' || new.seq, 'agentId', new.agent_id,
        'sessionId', new.session_id, 'outcome', new.data ->> 'outcome', 'approvalId', new.data ->> 'approvalId',
        'tool', new.data ->> 'tool')));
  end if;
  return null;
end $$;
