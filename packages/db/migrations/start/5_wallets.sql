-- Wallets of users and of their agents, and what the chain says about their transfers.

-- An agent's wallet outlives the agent: there may be money in it.
create table wallets (
  id text primary key,
  user_id text not null references users on delete cascade,
  -- null: the user's own
  agent_id text,
  -- with its checksum
  address text not null,
  -- platform: made here, one for a user or agent; added: a further one of the user's; cdp: kept by CDP;
  -- own: the key is elsewhere, a signature proved it
  kind text not null check (kind in ('platform', 'added', 'cdp', 'own')),
  -- the private key, sealed and bound to owner and address
  sealed_key bytea,
  -- its name at CDP
  custody_id text,
  created_at timestamptz not null,
  check ((kind in ('platform', 'added')) = (sealed_key is not null)),
  check ((kind = 'cdp') = (custody_id is not null))
);
create unique index wallets_one_platform on wallets (user_id, coalesce(agent_id, '')) where kind = 'platform';
create unique index wallets_one_custody on wallets (user_id) where kind = 'cdp';
create unique index wallets_once on wallets (user_id, coalesce(agent_id, ''), lower(address));
create index wallets_by_address on wallets (lower(address));
create index wallets_of_agent on wallets (agent_id) where agent_id is not null;
select own_by_user('wallets');
create trigger bounded before insert on wallets for each row
  execute function refuse_beyond('1000', 'Too many wallets (max 1000)');

-- Amounts are whole numbers of the smallest unit.
create table chain_transfers (
  chain_id integer not null,
  transaction_hash text not null,
  log_index integer not null,
  token text not null,
  from_address text not null,
  to_address text not null,
  units numeric(78, 0) not null,
  block_number bigint not null,
  block_time timestamptz not null,
  primary key (chain_id, transaction_hash, log_index)
);
create index chain_transfers_from on chain_transfers (chain_id, from_address, block_number desc, log_index desc);
create index chain_transfers_to on chain_transfers (chain_id, to_address, block_number desc, log_index desc);
create index chain_transfers_by_block on chain_transfers (chain_id, block_number);
select system_only('chain_transfers');

-- Up to which block the transfers of an address are known.
create table chain_cursors (
  chain_id integer not null,
  address text not null,
  block_number bigint not null,
  primary key (chain_id, address)
);
create index chain_cursors_behind on chain_cursors (chain_id, block_number);
select system_only('chain_cursors');

-- Blocks that were seen: when the chain has another one at that height, what came after the last common one is void.
create table chain_blocks (
  chain_id integer not null,
  number bigint not null,
  hash text not null,
  primary key (chain_id, number)
);
select system_only('chain_blocks');

-- One process at a time reads a chain.
create table chain_readers (
  chain_id integer primary key,
  reader text not null,
  until timestamptz not null
);
select system_only('chain_readers');
