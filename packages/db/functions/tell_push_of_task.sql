-- early
-- Writes down what is told of a row. That a task went well is told to whoever asked for it.
create or replace function tell_push_of_task() returns trigger language plpgsql as $$
begin
  perform tell_push(new.user_id, case new.status when 'failed' then 'task_failed' else 'task_done' end,
    new.status = 'failed', jsonb_build_object('taskId', new.task_id));
  return null;
end $$;
