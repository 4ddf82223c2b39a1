-- Due tasks are taken in turns of their users: who has something due, and what is oldest of each.
create index scheduled_tasks_due_of on scheduled_tasks (next_run, user_id) where enabled and next_run is not null;
create index scheduled_tasks_turns on scheduled_tasks (user_id, next_run) where enabled and next_run is not null;
drop index scheduled_tasks_due;
create index task_runs_under_way on task_runs (user_id) where status = 'running';
