-- expand, outside of a transaction: events can be many
-- What was said to an agent and by it is found and counted without reading it: a count that reads every text takes seconds
-- of a connection that others need.
create index concurrently agent_events_said on agent_events (agent_id, at desc, seq desc, session_id)
  where type in ('user', 'assistant') and not copied and data ->> 'content' <> '';
