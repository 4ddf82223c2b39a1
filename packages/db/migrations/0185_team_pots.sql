-- expand: another scope of caps and counters, which processes of the release before neither set nor look for
-- one pot for all agents of a team; the scope_id is the team's
alter table spend_caps drop constraint spend_caps_scope_check;
alter table spend_caps add constraint spend_caps_scope_check check (scope in ('user', 'agent', 'run', 'team'));
alter table spend_counters drop constraint spend_counters_scope_check;
alter table spend_counters add constraint spend_counters_scope_check
  check (scope in ('user', 'agent', 'run', 'widget', 'tokens', 'credits', 'team'));
