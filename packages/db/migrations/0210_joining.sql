-- expand: a new table, and a column that may be null
-- Who may come to this installation, and what a new account begins with: one row, until an administrator says otherwise none.
create table joining (
  one boolean primary key default true check (one),
  mode text not null check (mode in ('open', 'invite', 'closed')),
  plan text check (plan in ('solo', 'collective', 'label', 'network')),
  days integer check (days between 1 and 365),
  changed_at timestamptz not null,
  check (days is null or plan is not null)
);
select system_only('joining');

-- Until when a plan was given; null: until somebody changes it.
alter table users add column plan_ends_at timestamptz;
