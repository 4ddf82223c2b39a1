// Written by `npm run db:types` from the migrations. Do not edit.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

type Int8 = ColumnType<bigint, bigint | number, bigint | number>;
type Numeric = ColumnType<string, string | number | bigint, string | number | bigint>;
type Timestamp = ColumnType<Date, Date | string, Date | string>;
type Bytes = ColumnType<Buffer, Uint8Array, Uint8Array>;
/** An array has to be given as JSON text: the driver takes a bare one for an array of the database. */
type Json = ColumnType<unknown, string | Record<string, unknown>, string | Record<string, unknown>>;
type Nullable<T> = [T] extends [ColumnType<infer S, infer I, infer U>] ? ColumnType<S | null, I | null | undefined, U | null> : T | null;
type Default<T> = [T] extends [ColumnType<infer S, infer I, infer U>] ? ColumnType<S, I | undefined, U> : Generated<T>;

export interface Tables {
  a2a_push_configs: {
    agent_id: string;
    created_at: Timestamp;
    ended_at: Nullable<Timestamp>;
    id: string;
    sealed: Bytes;
    seq: number;
    session_id: string;
    url: string;
    user_id: string;
    version: '1.0' | '0.3';
  };
  a2a_push_deliveries: {
    at: Default<Timestamp>;
    config_id: string;
    id: Default<string>;
    queued_at: Nullable<Timestamp>;
    seq: number;
    session_id: string;
    user_id: string;
  };
  access_requests: {
    answer: Default<string>;
    asked_at: Timestamp;
    decided_at: Nullable<Timestamp>;
    decided_by: Nullable<string>;
    note: string;
    state: 'asked' | 'granted' | 'refused';
    user_id: string;
  };
  account_links: {
    created_at: Timestamp;
    id: string;
    provider: string;
    subject: string;
    tokens: Nullable<Bytes>;
    updated_at: Timestamp;
    user_id: string;
  };
  agent_background: {
    agent_id: string;
    created_at: Default<Timestamp>;
    depth: number;
    ended_at: Nullable<Timestamp>;
    id: string;
    lease_owner: Nullable<string>;
    lease_until: Nullable<Timestamp>;
    limits: Json;
    member: string;
    member_id: string;
    member_session: Nullable<string>;
    result: Default<string>;
    run_seq: number;
    session_id: string;
    settled: Default<boolean>;
    spent: Nullable<Json>;
    status: Default<'running' | 'done' | 'failed' | 'stopped'>;
    task: string;
    tells: Default<boolean>;
    user_id: string;
  };
  agent_backups: {
    agent_id: string;
    created_at: Timestamp;
    driver: string;
    id: string;
    image: string;
    reason: 'manual' | 'update' | 'restore';
    settings: Json;
    sha256: string;
    size: Int8;
    user_id: string;
    version: string;
  };
  agent_channel_messages: {
    agent_id: string;
    answer: Nullable<string>;
    channel: string;
    chat: string;
    content: Json;
    done_at: Nullable<Timestamp>;
    due_at: Default<Timestamp>;
    id: string;
    note: Nullable<string>;
    owner: Nullable<string>;
    received_at: Default<Timestamp>;
    sender: string;
    sent: Default<number>;
    state: 'waiting' | 'answered' | 'failed' | 'ignored';
    told: Default<boolean>;
    tries: Default<number>;
    user_id: string;
  };
  agent_channels: {
    agent_id: string;
    channel: string;
    sealed: Nullable<Bytes>;
    state: Default<Json>;
    user_id: string;
  };
  agent_configs: {
    config: Json;
    updated_at: Timestamp;
    user_id: string;
  };
  agent_days: {
    agent_id: string;
    day: string;
    tokens: Int8;
    trial_tokens: Default<Int8>;
    user_id: string;
  };
  agent_definitions: {
    agent_id: string;
    created_at: Default<Timestamp>;
    definition: Json;
    user_id: string;
    version: number;
  };
  agent_door_days: {
    agent_id: string;
    day: string;
    messages: number;
    sender: string;
    user_id: string;
  };
  agent_doors: {
    agent_id: string;
    contacts: Default<(string)[]>;
    messages_per_day: number;
    messages_per_sender: number;
    open: Default<boolean>;
    updated_at: Timestamp;
    user_id: string;
  };
  agent_events: {
    agent_id: string;
    at: Default<Timestamp>;
    copied: Default<boolean>;
    data: Json;
    input_id: Nullable<string>;
    seq: number;
    session_id: string;
    type: GeneratedAlways<string>;
    user_id: string;
  };
  agent_fact_progress: {
    seq: number;
    session_id: string;
    user_id: string;
  };
  agent_followers: {
    follower: string;
    session_id: string;
    until: Timestamp;
    user_id: string;
  };
  agent_logins: {
    agent_id: string;
    name: string;
    origin: string;
    sealed: Bytes;
    updated_at: Timestamp;
    user_id: string;
  };
  agent_logs: {
    agent_id: string;
    at: Default<Timestamp>;
    id: GeneratedAlways<bigint>;
    level: 'debug' | 'info' | 'warn' | 'error';
    message: string;
    source: string;
    user_id: string;
  };
  agent_memory: {
    agent_id: Nullable<string>;
    content: string;
    created_at: Timestamp;
    disputes: Nullable<(string)[]>;
    expires_at: Timestamp;
    id: string;
    key: Nullable<string>;
    scope: string;
    search: GeneratedAlways<string>;
    source_seq: Nullable<number>;
    source_session: Nullable<string>;
    terms: GeneratedAlways<string>;
    updated_at: Timestamp;
    user_id: string;
  };
  agent_memory_care: {
    agent_id: string;
    elsewhere: Default<boolean>;
    embeddings: Nullable<string>;
    facts: Default<boolean>;
    facts_note: Nullable<string>;
    facts_seen: Default<Timestamp>;
    meaning_due: Default<boolean>;
    scope: string;
    user_id: string;
  };
  agent_memory_models: {
    changes: Default<number>;
    dimension: Nullable<number>;
    model: string;
    note: Nullable<string>;
    scope: string;
    user_id: string;
  };
  agent_memory_vectors: {
    bits: string;
    dimension: number;
    made_of: Timestamp;
    memory_id: string;
    model: string;
    scope: string;
    user_id: string;
    vector: Bytes;
  };
  agent_operations: {
    action: string;
    agent_id: string;
    lease_until: Timestamp;
    owner: string;
  };
  agent_payments: {
    agent_id: string;
    created_at: Timestamp;
    currency: string;
    endpoint: Nullable<string>;
    id: string;
    method: string;
    recipient: string;
    result: Default<Json>;
    status: 'approval' | 'denied' | 'pending' | 'paid' | 'failed' | 'unknown';
    units: Int8;
    updated_at: Timestamp;
    user_id: string;
  };
  agent_sessions: {
    agent_id: string;
    archived: Default<boolean>;
    branch_at: Nullable<number>;
    branch_of: Nullable<string>;
    channel: string;
    compacted_to: Default<number>;
    created_at: Default<Timestamp>;
    id: string;
    key: string;
    last_seq: Default<number>;
    lease_owner: Nullable<string>;
    lease_seq: Default<number>;
    lease_until: Nullable<Timestamp>;
    pinned: Default<boolean>;
    root_id: Nullable<string>;
    status: Default<'idle' | 'open' | 'waiting'>;
    title: Nullable<string>;
    updated_at: Default<Timestamp>;
    user_id: string;
  };
  agent_todos: {
    agent_id: Nullable<string>;
    description: string;
    id: GeneratedAlways<bigint>;
    number: number;
    scope: string;
    status: Default<'pending' | 'in-progress' | 'completed'>;
    user_id: string;
  };
  agents: {
    ai_provider: Default<string>;
    attestation_uid: Nullable<string>;
    created_at: Default<Timestamp>;
    driver: Nullable<'hosting'>;
    failure: Nullable<string>;
    id: string;
    image: Nullable<string>;
    lost: Default<boolean>;
    model: Default<string>;
    name: string;
    outside: Default<boolean>;
    own_config: Default<Json>;
    plan: Default<'free' | 'solo' | 'collective' | 'label' | 'network'>;
    provider_key: Nullable<Bytes>;
    runtime_version: Nullable<string>;
    size: Nullable<string>;
    started_at: Nullable<Timestamp>;
    status: Default<'pending' | 'provisioning' | 'running' | 'stopped' | 'error' | 'failed'>;
    tags: Default<(string)[]>;
    team_id: Nullable<string>;
    tier: Nullable<'starter' | 'pro' | 'enterprise'>;
    token_generation: Default<number>;
    token_hash: Nullable<string>;
    token_sealed: Nullable<Bytes>;
    updated_at: Default<Timestamp>;
    user_id: string;
    verification_metadata: Nullable<Json>;
    verification_type: Nullable<'eas' | 'ens' | 'webauthn' | 'coinbase'>;
    verified_at: Nullable<Timestamp>;
    verifier_address: Nullable<string>;
  };
  ai_providers: {
    base_url: Nullable<string>;
    created_at: Timestamp;
    enabled: Default<boolean>;
    id: string;
    key_sealed: Nullable<Bytes>;
    kind: string;
    models: Nullable<(string)[]>;
    name: string;
  };
  amplify_requests: {
    content: string;
    created_at: Timestamp;
    from_agent_id: string;
    from_user_id: Nullable<string>;
    id: string;
    number: GeneratedAlways<bigint>;
    reward: Int8;
    status: 'requested' | 'accepted' | 'done';
    to_agent_id: string;
    to_user_id: Nullable<string>;
    updated_at: Timestamp;
  };
  api_keys: {
    created_at: Timestamp;
    id: string;
    key_hash: string;
    last_used_at: Nullable<Timestamp>;
    name: string;
    origins: Default<(string)[]>;
    preview: string;
    user_id: string;
  };
  audit_log: {
    action: string;
    actor_id: Nullable<string>;
    created_at: Timestamp;
    detail: Default<Json>;
    id: GeneratedAlways<bigint>;
    ip: Nullable<string>;
    user_id: Nullable<string>;
  };
  billing_customers: {
    created_at: Timestamp;
    customer_id: string;
    user_id: string;
  };
  billing_events: {
    id: string;
    received_at: Timestamp;
    type: string;
  };
  billing_subscriptions: {
    event_at: Timestamp;
    id: string;
    plan: 'solo' | 'collective' | 'label' | 'network';
    renews_at: Nullable<Timestamp>;
    status: 'active' | 'inactive' | 'past_due' | 'cancelled';
    user_id: string;
  };
  blob_chunks: {
    bytes: Nullable<Bytes>;
    hash: Bytes;
    loose_since: Default<Nullable<Timestamp>>;
    object: Nullable<string>;
    packed: boolean;
    size: number;
    user_id: string;
  };
  blob_files: {
    changed_at: Default<Timestamp>;
    digest: Nullable<Bytes>;
    kind: 'file' | 'folder' | 'link' | 'gone';
    link: Nullable<string>;
    mode: number;
    path: string;
    size: Int8;
    tree_id: string;
    user_id: string;
    version: number;
  };
  blob_objects: {
    object: string;
    since: Default<Timestamp>;
    user_id: string;
  };
  blob_parts: {
    hash: Bytes;
    number: number;
    path: string;
    tree_id: string;
    user_id: string;
  };
  blob_trees: {
    agent_id: string;
    bytes: Default<Int8>;
    entries: Default<number>;
    id: string;
    name: 'workspace' | 'restoring' | 'backups';
    pruned: Default<number>;
    user_id: string;
    version: Default<number>;
  };
  bookings: {
    amount: Int8;
    created_at: Timestamp;
    from_agent_id: string;
    from_user_id: Nullable<string>;
    id: string;
    last_by: string;
    number: GeneratedAlways<bigint>;
    status: 'offered' | 'countered' | 'accepted' | 'declined';
    talent_name: string;
    to_agent_id: string;
    to_user_id: Nullable<string>;
    updated_at: Timestamp;
  };
  bus_days: {
    day: string;
    messages: number;
    user_id: string;
  };
  bus_messages: {
    action: string;
    added: Default<Json>;
    attempts: Default<number>;
    created_at: Timestamp;
    delivered_at: Nullable<Timestamp>;
    from_agent_id: string;
    from_user_id: Nullable<string>;
    id: string;
    last_error: Nullable<string>;
    message: string;
    message_id: string;
    number: GeneratedAlways<bigint>;
    status: Default<'queued' | 'delivered' | 'failed'>;
    to_agent_id: string;
    to_user_id: Nullable<string>;
  };
  card_payments: {
    created_at: Timestamp;
    id: string;
    parts: Json;
    plugin: string;
    status: 'held' | 'paid' | 'released';
    units: Int8;
    updated_at: Timestamp;
    user_id: string;
  };
  chain_blocks: {
    chain_id: number;
    hash: string;
    number: Int8;
  };
  chain_cursors: {
    address: string;
    block_number: Int8;
    chain_id: number;
  };
  chain_readers: {
    chain_id: number;
    reader: string;
    until: Timestamp;
  };
  chain_transfers: {
    block_number: Int8;
    block_time: Timestamp;
    chain_id: number;
    from_address: string;
    log_index: number;
    to_address: string;
    token: string;
    transaction_hash: string;
    units: Numeric;
  };
  client_codes: {
    challenge: string;
    client_id: string;
    expires_at: Timestamp;
    grant_id: string;
    hash: string;
    redirect_uri: string;
    refreshes: boolean;
    scopes: (string)[];
    used_at: Nullable<Timestamp>;
    user_id: string;
  };
  client_grants: {
    audience: string;
    client_id: string;
    client_name: string;
    created_at: Timestamp;
    id: string;
    scopes: (string)[];
    used_at: Nullable<Timestamp>;
    user_id: string;
  };
  client_tokens: {
    created_at: Timestamp;
    expires_at: Timestamp;
    grant_id: string;
    hash: string;
    kind: 'access' | 'refresh';
    scopes: (string)[];
    used_at: Nullable<Timestamp>;
    user_id: string;
  };
  colony_members: {
    agent_id: string;
    joined_at: Timestamp;
    user_id: string;
    wallet_address: string;
  };
  config_backups: {
    config: Json;
    created_at: Timestamp;
    id: string;
    number: GeneratedAlways<bigint>;
    user_id: string;
  };
  conversation_shares: {
    agent_id: string;
    agent_name: string;
    created_at: Timestamp;
    id: string;
    messages: Json;
    session_id: string;
    title: string;
    token_hash: string;
    user_id: string;
  };
  devices: {
    agent_id: Nullable<string>;
    first_seen: Timestamp;
    id: string;
    ip: string;
    last_seen: Timestamp;
    name: string;
    secret_hash: string;
    status: Default<'pending' | 'approved' | 'denied' | 'revoked'>;
    token_hash: Nullable<string>;
    token_sealed: Nullable<Bytes>;
    user_id: string;
  };
  email_verifications: {
    email: string;
    expires_at: Timestamp;
    token_hash: string;
    user_id: string;
  };
  evaluation_cases: {
    agent_id: string;
    checks: Json;
    created_at: Timestamp;
    id: string;
    input: string;
    max_seconds: number;
    name: string;
    revision: Default<number>;
    stubs: Default<Json>;
    updated_at: Timestamp;
    user_id: string;
  };
  evaluation_gates: {
    agent_id: string;
    user_id: string;
  };
  evaluation_results: {
    answer: Nullable<string>;
    calls: Default<Json>;
    case_id: string;
    checks: Json;
    cost_micros: Default<Int8>;
    error: Nullable<string>;
    evaluation_id: string;
    finished_at: Nullable<Timestamp>;
    id: string;
    input: string;
    max_seconds: number;
    ms: Default<number>;
    name: string;
    place: number;
    started_at: Nullable<Timestamp>;
    status: 'waiting' | 'running' | 'passed' | 'failed' | 'broken' | 'interrupted' | 'skipped';
    stubs: Json;
    tokens: Default<number>;
    user_id: string;
    verdicts: Default<Json>;
  };
  evaluations: {
    agent_id: string;
    cases_digest: string;
    change: Nullable<Json>;
    created_at: Timestamp;
    definition: Json;
    definition_digest: string;
    finished_at: Nullable<Timestamp>;
    id: string;
    max_cost_micros: Int8;
    not_taken: Nullable<string>;
    status: 'running' | 'passed' | 'failed' | 'stopped';
    taken_at: Nullable<Timestamp>;
    takes: Default<boolean>;
    user_id: string;
  };
  federated_refresh_tokens: {
    address: Nullable<string>;
    expires_at: Timestamp;
    fid: string;
    subject: string;
    token_hash: string;
    verified: boolean;
  };
  gateway_payments: {
    chain_id: number;
    created_at: Timestamp;
    id: string;
    kind: Default<'authorization' | 'transaction'>;
    nonce: string;
    payer: string;
    plugin: string;
    protocol: 'mpp' | 'x402';
    served_at: Nullable<Timestamp>;
    status: 'verified' | 'sent' | 'settled' | 'released' | 'refunded';
    token: string;
    transaction_from: Nullable<string>;
    transaction_hash: Nullable<string>;
    transaction_nonce: Nullable<number>;
    transaction_raw: Nullable<string>;
    units: Numeric;
    updated_at: Timestamp;
    valid_before: Nullable<Timestamp>;
  };
  heartbeats: {
    agent_id: string;
    enabled: boolean;
    frequency: string;
    last_heartbeat: Nullable<Timestamp>;
    next_heartbeat: Nullable<Timestamp>;
    seconds: number;
    user_id: string;
  };
  inbox_marks: {
    item: string;
    marked_at: Timestamp;
    state: 'later' | 'done' | 'decided';
    task_id: Nullable<string>;
    until: Nullable<Timestamp>;
    user_id: string;
    words: string;
  };
  installations: {
    gateway_token_sealed: Nullable<Bytes>;
    last_seen: Timestamp;
    mode: 'home' | 'link' | 'cloud';
    quiet: Default<boolean>;
    registered_at: Timestamp;
    user_id: string;
  };
  invites: {
    by_admin: boolean;
    created_at: Timestamp;
    email: Nullable<string>;
    expires_at: Timestamp;
    id: string;
    name: Nullable<string>;
    token_hash: string;
    token_sealed: Bytes;
    used_at: Nullable<Timestamp>;
    used_by: Nullable<string>;
    user_id: string;
  };
  joining: {
    changed_at: Timestamp;
    days: Nullable<number>;
    mode: 'open' | 'invite' | 'closed';
    one: Default<boolean>;
    plan: Nullable<'solo' | 'collective' | 'label' | 'network'>;
  };
  knowledge_collections: {
    changes: Default<number>;
    created_at: Timestamp;
    description: Default<string>;
    dimension: Nullable<number>;
    embeddings: Nullable<string>;
    generation: Default<number>;
    id: string;
    meaning_note: Nullable<string>;
    name: string;
    next: Default<number>;
    number: GeneratedAlways<number>;
    passages: Default<number>;
    tuning: Default<Json>;
    updated_at: Timestamp;
    user_id: string;
    words: Default<Int8>;
  };
  knowledge_documents: {
    bytes: Default<number>;
    collection_id: string;
    created_at: Timestamp;
    digest: Nullable<string>;
    error: Nullable<string>;
    every_hours: Nullable<number>;
    first: Default<number>;
    id: string;
    kind: Nullable<string>;
    name: string;
    next_read_at: Nullable<Timestamp>;
    notes: Default<(string)[]>;
    passages: Default<number>;
    read_at: Nullable<Timestamp>;
    source: 'file' | 'text' | 'url';
    state: 'waiting' | 'ready' | 'failed' | 'removed';
    terms: Default<(string)[]>;
    title: Nullable<string>;
    updated_at: Timestamp;
    url: Nullable<string>;
    user_id: string;
    words: Default<number>;
  };
  knowledge_meanings: {
    bits: string;
    collection: number;
    generation: number;
    number: number;
    user_id: string;
  };
  knowledge_passages: {
    collection: number;
    document_id: string;
    heading: string;
    number: number;
    place: string;
    text: string;
    user_id: string;
  };
  knowledge_postings: {
    block: number;
    collection: number;
    postings: Bytes;
    term: string;
    user_id: string;
  };
  knowledge_sources: {
    content: Bytes;
    document_id: string;
    user_id: string;
  };
  knowledge_vectors: {
    collection: number;
    number: number;
    user_id: string;
    vector: Bytes;
  };
  ledger_accounts: {
    allow_negative: Default<boolean>;
    asset: string;
    balance: Default<Int8>;
    created_at: Timestamp;
    held: Default<Int8>;
    id: string;
  };
  ledger_entries: {
    account_id: string;
    amount: Int8;
    balance_after: Int8;
    created_at: Timestamp;
    id: GeneratedAlways<bigint>;
    transaction_id: Int8;
  };
  ledger_holds: {
    account_id: string;
    amount: Int8;
    closed_at: Nullable<Timestamp>;
    created_at: Timestamp;
    id: GeneratedAlways<bigint>;
    idempotency_key: string;
    meta: Default<Json>;
    remaining: Int8;
    request_hash: string;
    status: Default<'pending' | 'closed'>;
  };
  ledger_transactions: {
    created_at: Timestamp;
    id: GeneratedAlways<bigint>;
    idempotency_key: string;
    kind: string;
    meta: Default<Json>;
    request_hash: string;
  };
  live_readers: {
    process: string;
    until: Timestamp;
    user_id: string;
  };
  managed_agents: {
    agent_id: string;
    archived_at: Nullable<Timestamp>;
    metadata: Json;
    opened: Nullable<Json>;
    tools: Json;
    user_id: string;
  };
  managed_credentials: {
    archived_at: Nullable<Timestamp>;
    created_at: Timestamp;
    expires_at: Nullable<Timestamp>;
    id: string;
    kind: 'static_bearer' | 'mcp_oauth';
    metadata: Json;
    name: Nullable<string>;
    sealed: Bytes;
    updated_at: Timestamp;
    url: string;
    user_id: string;
    vault_id: string;
  };
  managed_deployment_runs: {
    error: Nullable<string>;
    run_id: string;
    session_id: Nullable<string>;
    user_id: string;
  };
  managed_deployments: {
    archived_at: Nullable<Timestamp>;
    environment_id: string;
    metadata: Json;
    task_id: string;
    user_id: string;
  };
  managed_environments: {
    archived_at: Nullable<Timestamp>;
    created_at: Timestamp;
    description: Nullable<string>;
    id: string;
    metadata: Json;
    name: string;
    updated_at: Timestamp;
    user_id: string;
  };
  managed_files: {
    bytes: number;
    content: Bytes;
    created_at: Timestamp;
    expires_at: Nullable<Timestamp>;
    id: string;
    mime: string;
    name: string;
    user_id: string;
  };
  managed_memories: {
    bytes: number;
    content: string;
    created_at: Timestamp;
    id: string;
    path: string;
    sha256: string;
    store_id: string;
    updated_at: Timestamp;
    user_id: string;
    version_id: string;
  };
  managed_memory_versions: {
    bytes: Nullable<number>;
    content: Nullable<string>;
    created_at: Timestamp;
    created_by: Json;
    id: string;
    memory_id: string;
    operation: 'created' | 'modified' | 'deleted';
    path: Nullable<string>;
    redacted_at: Nullable<Timestamp>;
    redacted_by: Nullable<Json>;
    sha256: Nullable<string>;
    store_id: string;
    user_id: string;
  };
  managed_resources: {
    created_at: Timestamp;
    file_id: string;
    id: string;
    path: string;
    session_id: string;
    user_id: string;
  };
  managed_session_stores: {
    access: 'read_write' | 'read_only';
    created_at: Timestamp;
    description: string;
    instructions: string;
    name: string;
    session_id: string;
    store_id: string;
    user_id: string;
  };
  managed_sessions: {
    agent_id: string;
    archived_at: Nullable<Timestamp>;
    conversation: Nullable<string>;
    created_at: Timestamp;
    deployment_id: Nullable<string>;
    environment_id: string;
    id: string;
    metadata: Json;
    title: Nullable<string>;
    updated_at: Timestamp;
    user_id: string;
    vault_ids: Nullable<Json>;
  };
  managed_stores: {
    archived_at: Nullable<Timestamp>;
    bytes: Default<number>;
    created_at: Timestamp;
    description: string;
    id: string;
    metadata: Json;
    name: string;
    updated_at: Timestamp;
    user_id: string;
  };
  managed_vaults: {
    archived_at: Nullable<Timestamp>;
    created_at: Timestamp;
    id: string;
    metadata: Json;
    name: string;
    updated_at: Timestamp;
    user_id: string;
  };
  mcp_credentials: {
    agent_id: string;
    sealed: Bytes;
    server: string;
    updated_at: Timestamp;
    user_id: string;
  };
  mcp_pins: {
    agent_id: Nullable<string>;
    bytes: Int8;
    digest: string;
    id: string;
    pin: Json;
    server_id: Nullable<string>;
    updated_at: Timestamp;
    user_id: string;
  };
  mcp_server_agents: {
    agent_id: string;
    error: Nullable<string>;
    offered: Nullable<Json>;
    server_id: string;
    state: Nullable<'connected' | 'failed' | 'consent'>;
    tried_at: Nullable<Timestamp>;
    user_id: string;
    uses: Nullable<boolean>;
  };
  mcp_servers: {
    access: Nullable<Bytes>;
    approval: 'allow' | 'ask' | 'deny';
    created_at: Timestamp;
    for_all: boolean;
    id: string;
    name: string;
    renewing_until: Nullable<Timestamp>;
    server: Json;
    updated_at: Timestamp;
    user_id: string;
  };
  notices: {
    created_at: Timestamp;
    id: GeneratedAlways<bigint>;
    kind: string;
    link: Nullable<string>;
    mailed_at: Nullable<Timestamp>;
    message: string;
    read_at: Nullable<Timestamp>;
    subject: string;
    user_id: string;
  };
  oauth_clients: {
    created_at: Timestamp;
    described: boolean;
    id: string;
    name: string;
    redirect_uris: (string)[];
    refreshes: boolean;
    used_at: Nullable<Timestamp>;
  };
  outbox_mails: {
    created_at: Timestamp;
    id: string;
    message: Bytes;
    recipient: string;
    subject: string;
  };
  passkey_challenges: {
    bound_to: Nullable<string>;
    challenge: string;
    expires_at: Timestamp;
    purpose: 'add' | 'sign-in' | 'second-step' | 'confirm';
    user_id: Nullable<string>;
  };
  password_guesses: {
    count: number;
    email_hash: string;
    expires_at: Timestamp;
  };
  password_resets: {
    expires_at: Timestamp;
    token_hash: string;
    user_id: string;
  };
  payment_challenges: {
    expires_at: Timestamp;
    id: string;
    plugin: string;
    used_at: Nullable<Timestamp>;
  };
  payment_policies: {
    agent_id: string;
    approval_above: Nullable<Int8>;
    payees: Nullable<(string)[]>;
    per_day: Nullable<Int8>;
    per_payee: Nullable<Int8>;
    per_payment: Nullable<Int8>;
    updated_at: Timestamp;
    user_id: string;
  };
  payment_sessions: {
    account_id: string;
    address: string;
    closing: Default<boolean>;
    created_at: Timestamp;
    deposit: Int8;
    hold_id: Int8;
    id: string;
    last_settled_at: Nullable<Timestamp>;
    pending: Default<Int8>;
    sandbox: boolean;
    spent: Default<Int8>;
    status: Default<'active' | 'settling' | 'closed'>;
    user_address: Default<string>;
  };
  payment_settlements: {
    created_at: Timestamp;
    done_at: Nullable<Timestamp>;
    id: string;
    session_id: string;
    status: 'pending' | 'sent' | 'done';
    transaction_from: Nullable<string>;
    transaction_hash: Nullable<string>;
    transaction_nonce: Nullable<number>;
    transaction_raw: Nullable<string>;
    units: Int8;
  };
  payment_vouchers: {
    created_at: Timestamp;
    id: GeneratedAlways<bigint>;
    nonce: string;
    plugin: string;
    session_id: string;
    settlement_id: Nullable<string>;
    signature: string;
    status: 'held' | 'pending' | 'settled' | 'refunded';
    units: Int8;
  };
  payouts: {
    address: string;
    created_at: Timestamp;
    id: string;
    status: Default<'owed' | 'sent' | 'paid' | 'credited'>;
    transaction_from: Nullable<string>;
    transaction_hash: Nullable<string>;
    transaction_nonce: Nullable<number>;
    transaction_raw: Nullable<string>;
    units: Int8;
    updated_at: Timestamp;
  };
  push_keys: {
    created_at: Timestamp;
    id: Default<boolean>;
    private_key: Bytes;
    public_key: Bytes;
  };
  push_messages: {
    at: Timestamp;
    data: Json;
    id: string;
    kind: string;
    queued_at: Nullable<Timestamp>;
    user_id: string;
  };
  push_subscriptions: {
    auth: Bytes;
    created_at: Timestamp;
    endpoint: string;
    failures: Default<number>;
    id: string;
    name: string;
    p256dh: Bytes;
    told_at: Nullable<Timestamp>;
    user_id: string;
  };
  recovery_codes: {
    code_hash: string;
    created_at: Timestamp;
    user_id: string;
  };
  referrals: {
    created_at: Timestamp;
    credited_at: Nullable<Timestamp>;
    giver_id: string;
    giver_micros: Default<Int8>;
    user_id: string;
  };
  risc_events: {
    by_email_only: boolean;
    events: Json;
    jti: string;
    processed_at: Nullable<Timestamp>;
    received_at: Timestamp;
    seq: GeneratedAlways<bigint>;
  };
  scheduled_tasks: {
    agent_id: string;
    created_at: Timestamp;
    cron_schedule: string;
    description: Nullable<string>;
    enabled: Default<boolean>;
    failures_in_row: Default<number>;
    id: string;
    last_run: Nullable<Timestamp>;
    name: string;
    next_run: Nullable<Timestamp>;
    prompt: string;
    tells: Nullable<'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp'>;
    timezone: Default<string>;
    updated_at: Timestamp;
    user_id: string;
  };
  second_factors: {
    confirmed_at: Nullable<Timestamp>;
    created_at: Timestamp;
    credential_id: Nullable<string>;
    id: string;
    kind: 'totp' | 'passkey';
    last_period: Default<Int8>;
    last_used_at: Nullable<Timestamp>;
    name: string;
    public_key: Nullable<Bytes>;
    secret_sealed: Nullable<Bytes>;
    sign_count: Default<Int8>;
    transports: Default<(string)[]>;
    user_id: string;
  };
  sessions: {
    confirmed_at: Nullable<Timestamp>;
    created_at: Timestamp;
    device: string;
    expires_at: Timestamp;
    id: string;
    ip: string;
    last_seen_at: Timestamp;
    second_step: Nullable<'totp' | 'passkey' | 'recovery'>;
    token_hash: string;
    user_id: string;
  };
  sign_in_steps: {
    expires_at: Timestamp;
    method: 'password' | 'idp1' | 'idp2' | 'wallet';
    token_hash: string;
    tries: Default<number>;
    user_id: string;
  };
  skill_files: {
    bytes: number;
    content: Bytes;
    kind: 'text' | 'script' | 'picture' | 'font' | 'document' | 'program' | 'binary';
    path: string;
    sha256: string;
    user_id: string;
    version_id: string;
  };
  skill_versions: {
    accepted_at: Nullable<Timestamp>;
    bytes: number;
    created_at: Timestamp;
    description: string;
    digest: string;
    head: Json;
    id: string;
    name: string;
    number: Nullable<number>;
    report: Json;
    skill_id: Nullable<string>;
    source: string;
    user_id: string;
  };
  skills: {
    created_at: Timestamp;
    display_name: Nullable<string>;
    id: string;
    name: string;
    updated_at: Timestamp;
    user_id: string;
  };
  spend_caps: {
    limit_micros: Int8;
    period: 'day' | 'month' | 'total';
    scope: 'user' | 'agent' | 'run' | 'team';
    scope_id: string;
    updated_at: Timestamp;
    user_id: string;
  };
  spend_counters: {
    reserved: Int8;
    scope: 'user' | 'agent' | 'run' | 'widget' | 'tokens' | 'credits' | 'team';
    scope_id: string;
    since: Timestamp;
    used: Int8;
    user_id: string;
  };
  spend_reservations: {
    counters: Json;
    expires_at: Timestamp;
    id: string;
    micros: Int8;
    tokens: Int8;
    user_id: string;
  };
  split_parts: {
    address: string;
    position: number;
    share: string;
    split_id: string;
    status: 'accrued' | 'pending' | 'sent' | 'paid';
    transaction_from: Nullable<string>;
    transaction_hash: Nullable<string>;
    transaction_nonce: Nullable<number>;
    transaction_raw: Nullable<string>;
    units: Int8;
    user_id: string;
  };
  splits: {
    agent_id: string;
    created_at: Timestamp;
    id: string;
    idempotency_key: Nullable<string>;
    name: string;
    number: GeneratedAlways<bigint>;
    paid_from: Nullable<string>;
    payout: 'onchain' | 'accrued';
    request_hash: string;
    units: Int8;
    user_id: string;
  };
  stored_responses: {
    bytes: number;
    created_at: Timestamp;
    id: string;
    input: Json;
    previous: Nullable<string>;
    response: Json;
    user_id: string;
  };
  task_deliveries: {
    at: Timestamp;
    id: string;
    run_id: string;
    task_id: string;
    trigger_id: string;
    user_id: string;
  };
  task_runs: {
    depth: Default<number>;
    due_at: Timestamp;
    error: Nullable<string>;
    finished_at: Nullable<Timestamp>;
    id: string;
    input: Nullable<string>;
    lease_until: Nullable<Timestamp>;
    occurrences: Default<number>;
    output: Nullable<string>;
    source: Default<'schedule' | 'webhook' | 'api' | 'file' | 'email' | 'task'>;
    started_at: Timestamp;
    status: 'waiting' | 'running' | 'succeeded' | 'failed' | 'skipped';
    task_id: string;
    tries: Default<number>;
    trigger_id: Nullable<string>;
    user_id: string;
  };
  task_triggers: {
    after_task: Nullable<string>;
    agent_id: string;
    created_at: Timestamp;
    enabled: Default<boolean>;
    id: string;
    kind: 'webhook' | 'file' | 'email' | 'task';
    last_at: Nullable<Timestamp>;
    look_at: Nullable<Timestamp>;
    old_secret: Nullable<Bytes>;
    old_secret_until: Nullable<Timestamp>;
    outcome: Nullable<'succeeded' | 'failed' | 'any'>;
    pattern: Nullable<string>;
    problem: Nullable<string>;
    secret: Nullable<Bytes>;
    seen: Nullable<Json>;
    seen_at: Nullable<Timestamp>;
    sender: Nullable<string>;
    task_id: string;
    user_id: string;
  };
  teams: {
    created_at: Timestamp;
    id: string;
    name: string;
    template: Nullable<string>;
    user_id: string;
    yaml: string;
  };
  top_up_events: {
    created_at: Timestamp;
    id: string;
    type: string;
  };
  top_ups: {
    address: string;
    amount_cents: number;
    checkout_id: string;
    created_at: Timestamp;
    currency: string;
    paid_at: Nullable<Timestamp>;
    status: Default<'open' | 'paid'>;
  };
  underground_events: {
    agent_id: string;
    created_at: Timestamp;
    description: string;
    event_date: Timestamp;
    id: GeneratedAlways<bigint>;
    name: string;
    payee: Nullable<string>;
    sold: Default<number>;
    ticket_price_usdc: string;
    total_tickets: number;
    user_id: string;
    venue: string;
  };
  underground_tickets: {
    agent_id: string;
    created_at: Timestamp;
    event_id: Int8;
    id: string;
    idempotency_key: Nullable<string>;
    number: GeneratedAlways<bigint>;
    quantity: number;
    units: Int8;
    user_id: string;
  };
  usage_batches: {
    created_at: Timestamp;
    id: string;
  };
  usage_daily: {
    agent_id: string;
    calls: Int8;
    cost_micros: Int8;
    day: string;
    failures: Int8;
    input_tokens: Int8;
    latency_ms: Int8;
    model: string;
    output_tokens: Int8;
    provider: string;
    user_id: string;
  };
  usage_logs: {
    agent_id: string;
    cached_tokens: Default<Int8>;
    cost_micros: Int8;
    created_at: Timestamp;
    estimated: boolean;
    id: GeneratedAlways<bigint>;
    input_tokens: Int8;
    latency_ms: number;
    model: string;
    output_tokens: Int8;
    provider: string;
    reasoning_tokens: Default<Int8>;
    run_id: Nullable<string>;
    success: boolean;
    user_id: string;
  };
  usage_sources_daily: {
    calls: Int8;
    cost_micros: Int8;
    day: string;
    input_tokens: Int8;
    kind: 'task' | 'key';
    output_tokens: Int8;
    source_id: string;
    user_id: string;
  };
  usage_tools_daily: {
    agent_id: string;
    calls: Int8;
    day: string;
    duration_ms: Int8;
    successes: Int8;
    tool_name: string;
    user_id: string;
  };
  used_tickets: {
    expires_at: Timestamp;
    hash: string;
  };
  users: {
    created_at: Timestamp;
    credit_micros: Default<Int8>;
    email: string;
    email_verified_at: Nullable<Timestamp>;
    erase_at: Nullable<Timestamp>;
    id: string;
    idp2_disabled_at: Nullable<Timestamp>;
    instance_id: Nullable<string>;
    instance_url: Nullable<string>;
    is_admin: Default<boolean>;
    name: string;
    notifications: Default<Json>;
    password_given: Default<boolean>;
    password_hash: Nullable<string>;
    plan: Nullable<'solo' | 'collective' | 'label' | 'network'>;
    plan_ends_at: Nullable<Timestamp>;
    referral_code: string;
    subscription_status: Default<'active' | 'inactive' | 'past_due' | 'cancelled'>;
    updated_at: Timestamp;
    wrong_codes: Default<number>;
    wrong_codes_since: Nullable<Timestamp>;
  };
  wallet_nonces: {
    expires_at: Timestamp;
    nonce: string;
  };
  wallets: {
    address: string;
    agent_id: Nullable<string>;
    created_at: Timestamp;
    custody_id: Nullable<string>;
    id: string;
    kind: 'platform' | 'added' | 'cdp' | 'own';
    sealed_key: Nullable<Bytes>;
    user_id: string;
  };
  webhook_deliveries: {
    answered: Nullable<number>;
    at: Timestamp;
    attempts: Default<number>;
    data: Json;
    ended_at: Nullable<Timestamp>;
    endpoint_id: string;
    id: string;
    problem: Nullable<string>;
    queued_at: Nullable<Timestamp>;
    status: Default<'pending' | 'delivered' | 'failed'>;
    type: string;
    user_id: string;
  };
  webhook_endpoints: {
    created_at: Timestamp;
    enabled: Default<boolean>;
    events: (string)[];
    id: string;
    old_secret: Nullable<Bytes>;
    old_secret_until: Nullable<Timestamp>;
    secret: Bytes;
    updated_at: Timestamp;
    url: string;
    user_id: string;
  };
  widget_visitors: {
    agent_id: string;
    created_at: Timestamp;
    id: string;
    origin: string;
    seen_at: Timestamp;
    session_id: Nullable<string>;
    state: Default<'agent' | 'waiting' | 'person'>;
    user_id: string;
    waiting_since: Nullable<Timestamp>;
    widget_id: string;
    words: Default<string>;
  };
  widgets: {
    abilities: 'answers' | 'all';
    agent_id: string;
    colour: string;
    created_at: Timestamp;
    daily_cap_micros: Int8;
    enabled: boolean;
    greeting: string;
    hands_over: boolean;
    hosted: boolean;
    id: string;
    messages_per_hour: number;
    origins: (string)[];
    public_key: string;
    removed_at: Nullable<Timestamp>;
    retention_days: number;
    scheme: 'light' | 'dark' | 'auto';
    title: string;
    user_id: string;
  };
}
