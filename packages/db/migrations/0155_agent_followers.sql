-- expand: a new table, which processes of an older release leave alone
-- Who is told when a session goes on: a row for each process that somebody reads along in. Telling has a price, since
-- transactions that tell commit one after the other, so only those tell that somebody listens to. Unlogged: after a crash
-- each process says again what it follows.
create unlogged table agent_followers (
  session_id text not null references agent_sessions (id) on delete cascade,
  -- the process
  follower text not null,
  user_id text not null,
  -- a process that is gone is told nothing after that
  until timestamptz not null,
  primary key (session_id, follower)
);
select own_by_user('agent_followers');
