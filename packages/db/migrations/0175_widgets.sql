-- expand: new tables, and one more kind of counter, which processes of an older release leave alone
-- Where customers of an owner talk to an agent.
create table widgets (
  id text primary key,
  user_id text not null,
  agent_id text not null,
  -- names it on the pages that show it; a new one ends all tokens of its visitors
  public_key text not null unique,
  enabled boolean not null,
  -- it has a page of its own
  hosted boolean not null,
  origins text[] not null,
  title text not null,
  greeting text not null,
  colour text not null,
  scheme text not null check (scheme in ('light', 'dark', 'auto')),
  abilities text not null check (abilities in ('answers', 'all')),
  hands_over boolean not null,
  messages_per_hour integer not null,
  daily_cap_micros bigint not null,
  retention_days integer not null,
  created_at timestamptz not null,
  -- it is there until the conversations of its visitors are deleted
  removed_at timestamptz,
  foreign key (agent_id, user_id) references agents (id, user_id) on delete cascade
);
create index widgets_of_agent on widgets (agent_id, user_id);
create index widgets_of_user on widgets (user_id);
select own_by_user('widgets');

-- Who has said something there. Who has not leaves no row: a token is only signed.
create table widget_visitors (
  id text primary key,
  widget_id text not null references widgets on delete cascade,
  user_id text not null,
  agent_id text not null,
  -- written down before the first model call: what that costs counts for the widget
  session_id text,
  state text not null default 'agent' check (state in ('agent', 'waiting', 'person')),
  waiting_since timestamptz,
  -- the newest of the visitor, cut
  words text not null default '',
  origin text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null
);
create index widget_visitors_of_widget on widget_visitors (widget_id, seen_at);
create index widget_visitors_newest on widget_visitors (agent_id, seen_at desc);
create index widget_visitors_of_session on widget_visitors (session_id);
create index widget_visitors_waiting on widget_visitors (user_id, waiting_since) where state <> 'agent';
select own_by_user('widget_visitors');

alter table spend_counters drop constraint spend_counters_scope_check;
alter table spend_counters add constraint spend_counters_scope_check
  check (scope in ('user', 'agent', 'run', 'widget', 'tokens', 'credits'));

create trigger tell_live after insert or update or delete on widgets
  for each row execute function tell_live('widgets', 'user_id');
create trigger tell_reader after update of state, words on widget_visitors
  for each row when (old.state is distinct from new.state or new.state <> 'agent') execute function tell_reader('inbox');
