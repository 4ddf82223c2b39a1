-- The last day's calls, for the brief: rows come in the order of time, so a few bytes for each stretch of the table do.
create index usage_logs_by_time on usage_logs using brin (created_at) with (pages_per_range = 32, autosummarize = on);

create index task_runs_of_user on task_runs (user_id, started_at);
