-- expand: the same bound for what is stored at once; processes of an older release meet it, too
-- Several are stored by one statement now, and looking through all that a user has once is enough.
drop trigger prune on stored_responses;
create trigger prune after insert on stored_responses
  referencing new table as added for each statement execute function prune_stored_responses();
