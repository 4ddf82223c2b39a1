-- Of the input, what came from the provider's cache; of the output, what was thought and not said.
alter table usage_logs
  add column cached_tokens bigint not null default 0,
  add column reasoning_tokens bigint not null default 0;

-- Pages that may call /v1 with this key from a browser; '*': all of them.
alter table api_keys add column origins text[] not null default '{}';
