-- expand: a column with a default, which processes of an older release leave alone
-- Whether an agent keeps its memory and its conversations itself, as a program of its own: then it is asked about them.
alter table agent_memory_care add column elsewhere boolean not null default false;
