-- early
-- Writes down what is told of a row.
create or replace function tell_webhooks_of_payment() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.user_id, 'payment.' || case new.status when 'approval' then 'waiting' else new.status end,
    jsonb_build_object('id', new.id, 'agentId', new.agent_id, 'units', new.units::text, 'currency', new.currency,
      'recipient', new.recipient));
  return null;
end $$;
