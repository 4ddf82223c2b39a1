-- expand: new tables and triggers; an older release writes no rows of sources, and tells nobody
-- What AI calls cost by what they were made for: the task that a run belongs to, the API key that a program showed. Written
-- together with the log, as usage_daily is: whatever one of them says later has no run or key to look at any more.
create table usage_sources_daily (
  user_id text not null,
  day date not null,
  kind text not null check (kind in ('task', 'key')),
  source_id text not null,
  calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_micros bigint not null,
  primary key (user_id, day, kind, source_id) include (calls, input_tokens, output_tokens, cost_micros)
) with (autovacuum_vacuum_insert_scale_factor = 0.01);
select own_by_user('usage_sources_daily');
revoke insert, update, delete on usage_sources_daily from svc_user;

-- Everybody's usage of some days, for administrators: rows come in the order of days.
create index usage_daily_by_day on usage_daily using brin (day) with (pages_per_range = 32, autosummarize = on);
create index usage_sources_daily_by_day on usage_sources_daily using brin (day) with (pages_per_range = 32, autosummarize = on);

-- Whose pages are open, a row for each process; the user * is every administrator. What changes often is told to them
-- alone, since transactions that tell commit one after the other. Unlogged: after a crash each process says it again.
create unlogged table live_readers (
  user_id text not null,
  process text not null,
  -- a process that is gone is told nothing after that
  until timestamptz not null,
  primary key (user_id, process)
);
select own_by_user('live_readers');

create trigger tell_reader_made after insert on task_runs
  for each row execute function tell_reader('tasks');
create trigger tell_reader after update of status on task_runs
  for each row when (old.status is distinct from new.status) execute function tell_reader('tasks');
create trigger tell_reader_made after insert on agent_sessions
  for each row when (new.status = 'open') execute function tell_reader('work');
-- one that begins or ends to wait tells the inbox, whoever is there
create trigger tell_reader after update of status on agent_sessions
  for each row when (old.status is distinct from new.status and 'waiting' not in (old.status, new.status))
  execute function tell_reader('work');

-- What tasks cost so far, as far as their sessions are still there.
insert into usage_sources_daily (user_id, day, kind, source_id, calls, input_tokens, output_tokens, cost_micros)
  select l.user_id, (l.created_at at time zone 'UTC')::date, 'task', t.id, count(*), sum(l.input_tokens),
    sum(l.output_tokens), sum(l.cost_micros)
  from usage_logs l
  join agent_sessions s on s.id = split_part(l.run_id, ':', 1) and s.user_id = l.user_id and s.channel = 'task'
  join scheduled_tasks t on t.id = split_part(s.key, ':', 1) and t.user_id = l.user_id
  where l.created_at >= now() - interval '92 days'
  group by 1, 2, 4;

-- Who is at work or waits, for the first page.
create index agent_sessions_busy on agent_sessions (user_id, agent_id) where status <> 'idle';
