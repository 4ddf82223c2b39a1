-- Whose messages an agent takes beside those of its owner's own agents. Without a row: nobody's.
create table agent_doors (
  agent_id text primary key references agents on delete cascade,
  user_id text not null references users on delete cascade,
  open boolean not null default false,
  -- agents that may write although the door is closed
  contacts text[] not null default '{}',
  messages_per_day integer not null check (messages_per_day >= 0),
  messages_per_sender integer not null check (messages_per_sender >= 0),
  updated_at timestamptz not null
);
select own_by_user('agent_doors');

-- What others have sent an agent on a day, by the sender's owner; '' is the sum of all.
create table agent_door_days (
  agent_id text not null references agents on delete cascade,
  user_id text not null references users on delete cascade,
  day date not null,
  sender text not null,
  messages integer not null,
  primary key (agent_id, day, sender)
);
select own_by_user('agent_door_days');
create index bus_messages_between on bus_messages (from_agent_id, to_agent_id, created_at);
