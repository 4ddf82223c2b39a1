-- Messages between agents, and what is negotiated in them. Both sides' owners read them; only the system writes.

create function shared_by_two(target regclass) returns void
  language plpgsql as $$
begin
  perform system_only(target);
  execute format('create policy parties on %s for select to svc_user using (app_user_id() in (from_user_id, to_user_id))', target);
  execute format('grant select on %s to svc_user', target);
end $$;

-- A message stays for the other side when an owner goes.
create table bus_messages (
  id text primary key,
  number bigint generated always as identity,
  message_id text not null,
  from_agent_id text not null,
  from_user_id text references users on delete set null,
  to_agent_id text not null,
  to_user_id text references users on delete set null,
  action text not null,
  -- the JSON as it was signed; text, because jsonb does not take every string that JSON has
  message text not null,
  -- what the platform adds to the metadata on delivery
  added jsonb not null default '{}',
  status text not null default 'queued' check (status in ('queued', 'delivered', 'failed')),
  attempts integer not null default 0,
  last_error text,
  created_at timestamptz not null,
  delivered_at timestamptz,
  check ((status = 'delivered') = (delivered_at is not null)),
  -- a repeat is no second message
  unique (from_agent_id, message_id)
);
create index bus_messages_sent on bus_messages (from_user_id, number desc);
create index bus_messages_received on bus_messages (to_user_id, number desc);
select shared_by_two('bus_messages');

-- How many messages a user's agents have sent on a day (UTC).
create table bus_days (
  user_id text not null references users on delete cascade,
  day date not null,
  messages integer not null,
  primary key (user_id, day)
);
select own_by_user('bus_days');

create table bookings (
  id text primary key,
  number bigint generated always as identity,
  from_agent_id text not null,
  from_user_id text references users on delete set null,
  to_agent_id text not null,
  to_user_id text references users on delete set null,
  talent_name text not null,
  -- millionths of a dollar, as last named
  amount bigint not null check (amount > 0),
  status text not null check (status in ('offered', 'countered', 'accepted', 'declined')),
  -- who made the last move: the other one is next
  last_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index bookings_offered on bookings (from_user_id, number desc);
create index bookings_received on bookings (to_user_id, number desc);
select shared_by_two('bookings');

create table amplify_requests (
  id text primary key,
  number bigint generated always as identity,
  from_agent_id text not null,
  from_user_id text references users on delete set null,
  to_agent_id text not null,
  to_user_id text references users on delete set null,
  content text not null,
  -- millionths of a dollar
  reward bigint not null check (reward >= 0),
  status text not null check (status in ('requested', 'accepted', 'done')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index amplify_requested on amplify_requests (from_user_id, number desc);
create index amplify_received on amplify_requests (to_user_id, number desc);
select shared_by_two('amplify_requests');
