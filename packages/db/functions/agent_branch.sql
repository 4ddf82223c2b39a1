-- A branch of a session: its steps up to `p_at`, what closes a run that was open there, and nothing after. The same key
-- again answers the branch that was made. Null: there is no such session.
create or replace function agent_branch(
  p_agent text, p_user text, p_session text, p_at integer, p_id text, p_key text, p_closing jsonb
) returns text
  language plpgsql as $$
declare
  s agent_sessions;
  made text;
begin
  select * into s from agent_sessions where id = p_session and agent_id = p_agent for key share;
  if not found then return null; end if;
  insert into agent_sessions (id, agent_id, user_id, channel, key, last_seq, compacted_to, title, pinned, archived,
    root_id, branch_of, branch_at)
  values (p_id, p_agent, p_user, s.channel, p_key, p_at + jsonb_array_length(p_closing),
    coalesce((select max((e.data ->> 'upTo')::integer) from agent_events e
      where e.session_id = s.id and e.type = 'compaction' and e.seq <= p_at), 0),
    s.title, s.pinned, s.archived, coalesce(s.root_id, s.id), s.id, p_at)
  on conflict (agent_id, channel, key) do nothing returning id into made;
  if made is null then
    return (select id from agent_sessions where agent_id = p_agent and channel = s.channel and key = p_key);
  end if;
  insert into agent_events (session_id, seq, agent_id, user_id, data, at, copied)
  select made, e.seq, e.agent_id, e.user_id, e.data, e.at, true from agent_events e
  where e.session_id = s.id and e.seq <= p_at;
  insert into agent_events (session_id, seq, agent_id, user_id, data)
  select made, p_at + c.n, p_agent, p_user, c.value from jsonb_array_elements(p_closing) with ordinality as c (value, n);
  return made;
end $$;
