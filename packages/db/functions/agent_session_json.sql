-- A session as programs see it.
create or replace function agent_session_json(s agent_sessions) returns jsonb
  language sql stable
  return jsonb_build_object('id', s.id, 'channel', s.channel, 'key', s.key, 'status', s.status, 'lastSeq', s.last_seq,
    'createdAt', iso_text(s.created_at), 'updatedAt', iso_text(s.updated_at));
