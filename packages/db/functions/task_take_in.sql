-- Writes a receipt for what starts a task, to be run in its turn. Answers {state, receipt}: `taken`; `known` when that
-- delivery is there already; `full` when too many wait or came within an hour; `off` and `gone` when the task is. What nobody
-- waits for an answer to is not refused: its receipt says why it is skipped. One at a time for each user, so that bounds hold.
create or replace function task_take_in(
  p_task text, p_trigger text, p_source text, p_delivery text, p_input text, p_depth integer
) returns jsonb
  language plpgsql as $$
declare
  v_user text;
  v_enabled boolean;
  v_id text := gen_random_uuid()::text;
  v_known text;
  v_why text;
begin
  select user_id into v_user from scheduled_tasks where id = p_task;
  if v_user is null then return jsonb_build_object('state', 'gone'); end if;
  perform pg_advisory_xact_lock(hashtextextended('task_take_in ' || v_user, 0));
  select enabled into v_enabled from scheduled_tasks where id = p_task;
  if v_enabled is null then return jsonb_build_object('state', 'gone'); end if;
  if p_delivery is not null then
    select run_id into v_known from task_deliveries
      where task_id = p_task and trigger_id = coalesce(p_trigger, '') and id = p_delivery;
    if v_known is not null then return jsonb_build_object('state', 'known', 'receipt', v_known); end if;
  end if;
  if not v_enabled then return jsonb_build_object('state', 'off'); end if;
  if p_depth > 5 then v_why := 'Tasks started each other in a circle: it ends here';
  elsif (select count(*) from task_runs where user_id = v_user and task_id = p_task and status = 'waiting') >= 100
    or (select count(*) from task_runs where user_id = v_user and status = 'waiting') >= 500
    then v_why := 'Too many runs wait';
  elsif (select count(*) from task_runs where task_id = p_task and source <> 'schedule' and status <> 'skipped'
    and due_at > clock_timestamp() - interval '1 hour') >= 300 then v_why := 'Too many runs within an hour';
  end if;
  if v_why is not null and p_source in ('webhook', 'api') then return jsonb_build_object('state', 'full'); end if;
  insert into task_runs (id, task_id, user_id, due_at, status, started_at, finished_at, error, source, trigger_id, input, depth)
    values (v_id, p_task, v_user, clock_timestamp(), case when v_why is null then 'waiting' else 'skipped' end,
      clock_timestamp(), case when v_why is not null then clock_timestamp() end, v_why, p_source, p_trigger,
      left(p_input, case when v_why is null then 65536 else 2000 end), p_depth);
  if p_delivery is not null then
    insert into task_deliveries (task_id, trigger_id, id, user_id, run_id, at)
      values (p_task, coalesce(p_trigger, ''), p_delivery, v_user, v_id, clock_timestamp());
  end if;
  update task_triggers set last_at = clock_timestamp() where id = p_trigger;
  perform pg_notify('tasks_waiting', '');
  return jsonb_build_object('state', 'taken', 'receipt', v_id);
end $$;
