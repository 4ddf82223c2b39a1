-- early
-- Who the current transaction acts for; null outside a user's scope, so that no row matches.
create or replace function app_user_id() returns text
  language sql stable parallel safe
  return nullif(current_setting('app.user_id', true), '');
