-- expand: a column that may be null
-- What clients of Anthropic's API call a skill; agents know it by its name.
alter table skills add column display_name text;
