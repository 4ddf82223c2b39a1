-- Stores a task for the background, in the hands of who asks for it. Answers `known` when it is there already, `lead` or
-- `user` when the agent or its owner has as many under way as they may, `gone` when the conversation is. One at a time for
-- each user, so that the bounds hold. Of those that are settled the newest stay.
create or replace function agent_add_task(
  p_agent text, p_user text, p_task jsonb, p_of_lead integer, p_of_user integer, p_kept integer, p_owner text, p_ttl_ms integer
) returns text
  language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('agent_background ' || p_user, 0));
  if exists (select from agent_background where id = p_task ->> 'id' and agent_id = p_agent) then return 'known'; end if;
  if not exists (select from agent_sessions where id = p_task ->> 'sessionId' and agent_id = p_agent) then return 'gone'; end if;
  if (select count(*) from agent_background where agent_id = p_agent and not settled) >= p_of_lead then return 'lead'; end if;
  if (select count(*) from agent_background where user_id = p_user and status = 'running') >= p_of_user then return 'user'; end if;
  insert into agent_background (id, agent_id, user_id, session_id, run_seq, member_id, member, task, limits, depth,
      lease_owner, lease_until)
    values (p_task ->> 'id', p_agent, p_user, p_task ->> 'sessionId', (p_task ->> 'runSeq')::integer, p_task ->> 'memberId',
      p_task ->> 'member', p_task ->> 'task', p_task -> 'limits', (p_task ->> 'depth')::integer,
      p_owner, clock_timestamp() + make_interval(secs => p_ttl_ms / 1000.0));
  delete from agent_background b using (
      select id from agent_background where agent_id = p_agent order by created_at desc, id offset p_kept) old
    where b.id = old.id and b.settled;
  return 'added';
end $$;
