-- expand: a new table, which processes of an older release leave alone
-- What came in over a channel, once by the service's own id: what waits for its answer, and a receipt of what had one.
create table agent_channel_messages (
  agent_id text not null,
  user_id text not null,
  channel text not null,
  id text not null,
  chat text not null,
  sender text not null,
  -- text, files and what sending an answer needs; empty once it is done with
  content jsonb not null,
  state text not null check (state in ('waiting', 'answered', 'failed', 'ignored')),
  tries integer not null default 0,
  -- the sender knows that it waits for an approval
  told boolean not null default false,
  -- parts of the answer that the service has
  sent integer not null default 0,
  -- the session and the event with the words that answer it: two messages that one answer saw get it once
  answer text,
  -- the process that works on it; nobody else touches it before it is due
  owner text,
  due_at timestamptz not null default now(),
  -- why it was not answered
  note text,
  received_at timestamptz not null default now(),
  done_at timestamptz,
  primary key (agent_id, channel, id),
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index agent_channel_messages_due on agent_channel_messages (agent_id, channel, due_at) where state = 'waiting';
create index agent_channel_messages_newest on agent_channel_messages (agent_id, received_at desc);
create unique index agent_channel_messages_answer on agent_channel_messages (agent_id, channel, answer)
  where answer is not null;
create index agent_channel_messages_user on agent_channel_messages (user_id);
select own_by_user('agent_channel_messages');
