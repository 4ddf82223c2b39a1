-- early
-- Of the receipts of a task, the newest five hundred are kept.
create or replace function prune_task_runs() returns trigger
  language plpgsql as $$
begin
  delete from task_runs where task_id = new.task_id and status not in ('running', 'waiting') and due_at <= (
    select due_at from task_runs where task_id = new.task_id order by due_at desc offset 500 limit 1);
  return null;
end $$;
