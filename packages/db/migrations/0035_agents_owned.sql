-- What the platform knows of an agent beside what it keeps while it works.
alter table agents
  add foreign key (user_id) references users on delete cascade,
  add column status text not null default 'pending'
    check (status in ('pending', 'provisioning', 'running', 'stopped', 'error', 'failed')),
  -- why the status is error or failed
  add column failure text,
  add column plan text not null default 'solo' check (plan in ('free', 'solo', 'collective', 'label', 'network')),
  add column tier text check (tier in ('starter', 'pro', 'enterprise')),
  add column model text not null default '',
  add column ai_provider text not null default 'openrouter',
  add column agent_type text not null default 'creative',
  add column image text,
  add column previous_image text,
  add column runtime_version text,
  -- the gateway token: its hash to check it, sealed for the owner to read
  add column token_hash text unique,
  add column token_sealed bytea,
  add column verification_type text check (verification_type in ('eas', 'ens', 'webauthn', 'coinbase')),
  add column attestation_uid text,
  add column verifier_address text,
  add column verified_at timestamptz,
  add column verification_metadata jsonb,
  add column started_at timestamptz;
