-- expand: a new table
-- Providers of AI models that administrators add in the dashboard. Those of the environment are not here.
create table ai_providers (
  id text primary key,
  kind text not null,
  -- What models are named by; of the known kinds it is the kind itself.
  name text not null unique,
  base_url text,
  key_sealed bytea,
  enabled boolean not null default true,
  created_at timestamptz not null
);
select system_only('ai_providers');

create trigger tell_ai_providers after insert or update or delete on ai_providers
  for each statement execute function tell_ai_providers();
