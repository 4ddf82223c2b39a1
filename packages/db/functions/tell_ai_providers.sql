-- early
-- Every process of the platform is told that there may be other providers of models; pages of administrators, too.
create or replace function tell_ai_providers() returns trigger language plpgsql as $$
begin
  perform pg_notify('ai_providers', '');
  perform pg_notify('live', '* providers');
  return null;
end $$;
