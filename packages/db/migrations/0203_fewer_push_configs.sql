-- expand: a trigger with a smaller bound; processes of an older release meet it, too
-- Each of them is a request to an address that somebody chose, with every end of the task.
drop trigger bounded on a2a_push_configs;
create trigger bounded before insert on a2a_push_configs for each row
  execute function refuse_beyond('1000', 'At most 1,000 push notification configs');
