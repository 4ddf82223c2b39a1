-- early
-- Writes down what is told of a row.
create or replace function tell_webhooks_of_notice() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.user_id, 'notice.raised',
    jsonb_build_object('id', new.id::text, 'kind', new.kind, 'subject', new.subject));
  return null;
end $$;
