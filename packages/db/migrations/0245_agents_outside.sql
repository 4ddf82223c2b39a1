-- expand: a column with a default, which processes of an older release leave alone
-- It keeps its conversations and files itself, as one in a container does: while it does not run nobody can read them.
alter table agents add column outside boolean not null default false;
update agents set outside = true where driver = 'hosting';
