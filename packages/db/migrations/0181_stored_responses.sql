-- expand: a new table
-- Responses that a caller may look up and go on from. A row has what its own request said, not what was said before it:
-- that is in the rows that `previous` leads to.
create table stored_responses (
  id text primary key,
  user_id text not null references users on delete cascade,
  previous text,
  -- As text of JSON: what a model wrote may have characters that jsonb refuses.
  input json not null,
  response json not null,
  bytes integer not null,
  created_at timestamptz not null
);
select own_by_user('stored_responses');
create index stored_responses_user on stored_responses (user_id, created_at desc, id) include (bytes);
create index stored_responses_age on stored_responses (created_at);
create trigger prune after insert on stored_responses for each row execute function prune_stored_responses();
