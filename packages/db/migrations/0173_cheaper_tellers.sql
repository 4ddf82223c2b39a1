-- expand: the same triggers, which older releases leave alone
-- Every event comes by these: the stored kind is read instead of being taken out of the event again.
drop trigger tell_webhooks on agent_events;
create trigger tell_webhooks after insert on agent_events
  for each row when (new.type in ('run_ended', 'approval_requested')) execute function tell_webhooks_of_run();
drop trigger tell_push on agent_events;
create trigger tell_push after insert on agent_events
  for each row when (new.type = 'approval_requested') execute function tell_push_of_approval();
