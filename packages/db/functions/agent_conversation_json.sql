-- The first words that somebody said are its title until it gets one.
create or replace function agent_conversation_json(s agent_sessions) returns jsonb
  language sql stable
  return agent_session_json(s) || jsonb_build_object(
    'title', coalesce(s.title, (select left(e.data ->> 'content', 120) from agent_events e
      where e.session_id = s.id and e.type = 'user' and e.data ->> 'content' <> '' order by e.seq limit 1), ''),
    'pinned', s.pinned, 'archived', s.archived, 'branchOf', s.branch_of, 'branchAt', s.branch_at);
