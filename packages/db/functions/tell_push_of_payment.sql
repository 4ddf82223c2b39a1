-- early
-- Writes down what is told of a row.
create or replace function tell_push_of_payment() returns trigger language plpgsql as $$
begin
  perform tell_push(new.user_id, 'payment', true,
    jsonb_build_object('agentId', new.agent_id, 'paymentId', new.id, 'units', new.units::text));
  return null;
end $$;
