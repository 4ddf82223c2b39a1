-- expand: a new column that older releases leave alone
-- The channel of the agent on which a task's words are told, to whoever wrote there last; null: on none.
alter table scheduled_tasks add column tells text
  check (tells in ('telegram', 'slack', 'email', 'discord', 'whatsapp'));
