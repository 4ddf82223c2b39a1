-- expand: a column with a default, which processes of an older release leave alone
-- Words by which an owner finds agents.
alter table agents add column tags text[] not null default '{}';
