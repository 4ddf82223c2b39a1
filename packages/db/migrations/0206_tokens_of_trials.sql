-- expand: a column with a default, which processes of an older release leave alone
-- What trials of the agent used that day, those included whose evaluations are kept no more.
alter table agent_days add column trial_tokens bigint not null default 0;
