-- expand: the same trigger, which older releases leave alone
-- What a task tells by mail goes through the same inbox: it has not arrived, and starts no task.
drop trigger mail_arrived on agent_channel_messages;
create trigger mail_arrived after insert on agent_channel_messages
  for each row when (new.channel = 'email' and new.state = 'waiting' and not new.content ? 'words')
  execute function task_mail_arrived();
