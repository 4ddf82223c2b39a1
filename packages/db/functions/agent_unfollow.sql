-- A process follows these sessions no longer; without any, none at all. What processes that died have left goes, too.
create or replace function agent_unfollow(p_follower text, p_sessions text[]) returns void
  language sql as $$
  delete from agent_followers f where f.follower = p_follower and (p_sessions is null or f.session_id = any (p_sessions));
  delete from agent_followers f where (f.session_id, f.follower) in (
    select g.session_id, g.follower from agent_followers g where g.until < now() for update skip locked);
$$;
