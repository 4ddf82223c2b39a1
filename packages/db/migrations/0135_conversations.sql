-- A conversation has a title of its owner's, may be pinned or put away, and has branches: sessions that begin with the
-- steps of another up to one of them. The steps are copied, under the same numbers, so that nothing of a session ever
-- depends on another; `copied` keeps them from being counted twice.
alter table agent_sessions
  add column title text,
  add column pinned boolean not null default false,
  add column archived boolean not null default false,
  -- The first of its branches; null: itself.
  add column root_id text,
  add column branch_of text,
  add column branch_at integer;
create index agent_sessions_branches on agent_sessions (root_id) where root_id is not null;

alter table agent_events add column copied boolean not null default false;

-- The first words that somebody said are its title until it gets one.
create function agent_conversation_json(s agent_sessions) returns jsonb
  language sql stable
  return agent_session_json(s) || jsonb_build_object(
    'title', coalesce(s.title, (select left(e.data ->> 'content', 120) from agent_events e
      where e.session_id = s.id and e.type = 'user' and e.data ->> 'content' <> '' order by e.seq limit 1), ''),
    'pinned', s.pinned, 'archived', s.archived, 'branchOf', s.branch_of, 'branchAt', s.branch_at);

-- A branch of a session: its steps up to `p_at`, what closes a run that was open there, and nothing after. The same key
-- again answers the branch that was made. Null: there is no such session.
create function agent_branch(
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

-- What somebody shows to whoever has the link: the words as they were then. Later ones are not in it.
create table conversation_shares (
  id text primary key,
  user_id text not null references users on delete cascade,
  agent_id text not null references agents on delete cascade,
  session_id text not null,
  token_hash text not null unique,
  title text not null,
  agent_name text not null,
  -- [{role, text, at, model}]
  messages jsonb not null,
  created_at timestamptz not null
);
select own_by_user('conversation_shares');
create index conversation_shares_of on conversation_shares (agent_id, created_at desc);
