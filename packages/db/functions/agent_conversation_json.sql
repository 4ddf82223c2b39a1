-- The first words that somebody said are its title until it gets one.
create or replace function agent_conversation_json(s agent_sessions) returns jsonb
  language sql stable
  return agent_session_json(s) || jsonb_build_object(
    'title', coalesce(s.title, agent_first_words(s.id), ''),
    'pinned', s.pinned, 'archived', s.archived, 'branchOf', s.branch_of, 'branchAt', s.branch_at);
