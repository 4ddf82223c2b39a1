-- early
-- The result of a task starts those that wait for it, in the transaction that writes it down.
create or replace function task_result_arrived() returns trigger language plpgsql as $$
declare
  v_trigger record;
begin
  for v_trigger in select id, task_id from task_triggers
    where after_task = new.task_id and user_id = new.user_id and enabled and outcome in ('any', new.status) order by id
  loop
    perform task_take_in(v_trigger.task_id, v_trigger.id, 'task', null,
      'Result: ' || new.status || E'\n\n' || coalesce(new.output, new.error, ''), new.depth + 1);
  end loop;
  return null;
end $$;
