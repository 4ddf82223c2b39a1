-- The task that a session works for, also as a member of the team that does: null where it is nobody's task. The session
-- must be the user's own, since whoever calls a model may name any.
create or replace function usage_task_of(p_user text, p_session text) returns text language sql stable as $$
  with recursive up (channel, key, depth) as (
    select channel, key, 0 from agent_sessions where id = p_session and user_id = p_user
    union all
    select s.channel, s.key, up.depth + 1 from up
      join agent_sessions s on s.id = split_part(up.key, ':', 1) and s.user_id = p_user
    where up.channel in ('team', 'task') and up.depth < 8
  )
  select t.id from up join scheduled_tasks t on t.id = split_part(up.key, ':', 1) and t.user_id = p_user
  where up.channel = 'task' limit 1
$$;
