-- The widget whose visitor a run answers, also as a member of the team that does: null where it is nobody's. A run is named
-- by its session, which must be the user's own, since whoever calls a model may name any.
create or replace function widget_of_run(p_user text, p_run text) returns text language sql stable as $$
  with recursive up (id, depth) as (
    select split_part(p_run, ':', 1), 0
    union all
    select split_part(s.key, ':', 1), up.depth + 1 from up
      join agent_sessions s on s.id = up.id and s.user_id = p_user
    where s.channel in ('team', 'task') and up.depth < 8
  )
  select v.widget_id from up join widget_visitors v on v.session_id = up.id and v.user_id = p_user limit 1
$$;
