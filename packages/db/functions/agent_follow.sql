-- A process follows these sessions, and is told from now on when one of them goes on (agent_tell). Answers how far each is;
-- one that is not there is left out. Said again it costs little: it only makes rows that lack, and those last longer that
-- would end soon.
create or replace function agent_follow(p_follower text, p_sessions text[]) returns table (id text, last_seq integer)
  language plpgsql set enable_seqscan = off as $$
begin
  -- In the order in which writers lock the sessions of an agent.
  insert into agent_followers (session_id, follower, user_id, until)
  select s.id, p_follower, s.user_id, now() + interval '1 hour' from agent_sessions s
  where s.id = any (p_sessions) and not exists (
    select from agent_followers f where f.session_id = s.id and f.follower = p_follower)
  order by s.agent_id, s.channel, s.key for share of s;
  update agent_followers f set until = now() + interval '1 hour'
  where f.session_id = any (p_sessions) and f.follower = p_follower and f.until < now() + interval '30 minutes';
  return query select s.id, s.last_seq from agent_sessions s where s.id = any (p_sessions);
end $$;
