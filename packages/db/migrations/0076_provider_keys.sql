-- The owner's key at a provider, sealed: this agent thinks on that account instead of the platform's.
alter table agents add column provider_key bytea;
