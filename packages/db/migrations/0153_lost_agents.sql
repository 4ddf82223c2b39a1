-- expand: a column with a default
-- Its container ended without us: it runs again when the container does.
alter table agents add column lost boolean not null default false;
update agents set lost = true where failure = 'The agent’s container is not running';
