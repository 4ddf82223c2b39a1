-- early
-- Writes down what is told of a row.
create or replace function tell_webhooks_of_task() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.user_id, 'task.' || new.status,
    jsonb_build_object('id', new.id, 'taskId', new.task_id, 'dueAt', new.due_at, 'status', new.status));
  return null;
end $$;
