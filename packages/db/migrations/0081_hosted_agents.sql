-- What runs the agent where it is not the platform's own driver.
alter table agents add column driver text check (driver in ('hosting'));
