-- What the platform tells people.

create table notices (
  id bigint generated always as identity primary key,
  user_id text not null references users on delete cascade,
  kind text not null,
  -- the same thing is told once while it is unread
  subject text not null,
  message text not null,
  link text,
  created_at timestamptz not null,
  read_at timestamptz,
  -- when it was looked at for a mail: sent, or not wanted
  mailed_at timestamptz
);
create index notices_to_mail on notices (id) where mailed_at is null;
create index notices_of_user on notices (user_id, id desc);
create unique index notices_unread on notices (user_id, kind, subject) where read_at is null;
select own_by_user('notices');
create trigger prune_notices after insert on notices for each row execute function prune_notices();
create trigger tell_live after update of read_at on notices
  for each row when (old.read_at is distinct from new.read_at) execute function tell_live('notices', 'user_id');
