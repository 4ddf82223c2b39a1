-- What an agent is shown of a memory: of a fact that came from a conversation also when it was said, since facts that
-- contradict each other stand beside each other.
create or replace function memory_said(content text, source_session text, at timestamptz) returns text language sql stable
  return case when source_session is null then content
    else content || ' (said on ' || to_char(at at time zone 'utc', 'YYYY-MM-DD') || ')' end;
