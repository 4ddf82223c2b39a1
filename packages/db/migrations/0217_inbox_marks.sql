-- expand: a new table
-- What somebody put off, is done with, or decided in their inbox. It is named as the inbox names it: what waits may be no row
-- of this database.
create table inbox_marks (
  user_id text not null references users on delete cascade,
  item text not null check (length(item) between 1 and 200),
  state text not null check (state in ('later', 'done', 'decided')),
  -- When it comes back.
  until timestamptz,
  -- What it was, for the list of what is done: what was decided is gone.
  words text not null check (length(words) <= 300),
  -- The task that was switched off by it; undone, it is on again.
  task_id text,
  marked_at timestamptz not null,
  primary key (user_id, item),
  check ((state = 'later') = (until is not null))
);
select own_by_user('inbox_marks');
create index inbox_marks_newest on inbox_marks (user_id, marked_at desc);
create trigger prune after insert on inbox_marks for each row execute function prune_inbox_marks();
create trigger tell_live after insert or update or delete on inbox_marks
  for each row execute function tell_live('inbox', 'user_id');
