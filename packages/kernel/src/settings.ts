import { StartError } from './errors.ts';
import { section, type Setting } from './setting-kinds.ts';

/**
 * Every setting of every service, once. `.env.example` and docs/settings.md are printed from this table
 * (`npm run docs:settings`), and a test fails when they differ.
 */

const services = section('Services');
const storage = section('Storage');
const secrets = section('Secrets');
const people = section('People');
const agents = section('Agents');
const ai = section('AI');
const identity = section('Identity providers');
const billing = section('Card processor');
const chain = section('Chain and payments');
const outside = section('Other services');

const TABLE = {
  NODE_ENV: services.oneOf(
    '`production`: nothing is generated, guessed or left open',
    ['development', 'production', 'test'],
    'development',
  ),
  HOST: services.textOr('Address that all services listen on', '127.0.0.1'),
  WEB_PORT: services.whole('Port of the web API and the dashboard', 3000, 0, 65535),
  BACKEND_PORT: services.whole('Port of the backend API', 3001, 0, 65535),
  SUMMARIZER_PORT: services.whole('Port of the web summarizer', 3100, 0, 65535),
  BASE_URL: services.url('Public address of the web service; its own listening address when unset'),
  BACKEND_URL: services.url('Where web and install scripts find the backend; its own listening address when unset'),
  BACKEND_FALLBACK_URL: services.url('Second backend, tried when the first does not answer'),
  SUMMARIZER_URL: services.url(
    'Where web finds the summarizer, for the API reference; its own listening address when unset',
  ),
  TRUST_PROXY: services.whole('Number of proxies in front whose X-Forwarded-For is believed', 0, 0, 16),
  MAX_CONNECTIONS: services.whole(
    'Connections that one service keeps open; never more than a sixth of the files that the process may open',
    10_000,
    16,
    1_000_000,
  ),
  MAX_CONNECTIONS_PER_ADDRESS: services.whole(
    'Of these for one client address; never more than a quarter. Behind a proxy (TRUST_PROXY): its requests under way',
    500,
    4,
    1_000_000,
  ),
  MAX_REQUESTS: services.whole(
    'Requests that one service works on at once, streams not counted; beyond it clients are told to come again. Never more than its connections',
    2_000,
    16,
    1_000_000,
  ),
  PROCESSES: services.whole(
    'Processes of a service that is started alone, behind its one port: as many cores as it may use. Each has connections to the database and memory of its own',
    1,
    1,
    64,
  ),
  STOP_WAIT_SECONDS: services.whole('How long a stop waits for answers that are under way', 8, 0, 600),
  OTEL_EXPORTER_OTLP_ENDPOINT: services.url(
    'An OpenTelemetry collector, by OTLP over HTTP: runs, model calls and tool calls are traced there',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: services.headers('What the collector asks for, as name=value,name=value'),
  OTEL_SERVICE_NAME: services.text('The name that traces carry; troupe-backend when unset'),
  LOG_LEVEL: services.oneOf('Least severe level that is logged', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),

  DATA_DIR: storage.text(
    'Embedded database, generated secrets; workspaces, backups and mails too unless BLOB_STORE keeps them elsewhere',
    '.data',
  ),
  DATABASE_URL: storage.server(
    'A PostgreSQL 15+ server, or several as host:port,host:port, of which the one that takes writes is used; unset: an embedded one in DATA_DIR',
    'postgres',
    'postgresql',
  ),
  DATABASE_DIRECT_URL: storage.server(
    'The same database past a connection pooler: for migrations, jobs, notifications and backups; DATABASE_URL when unset',
    'postgres',
    'postgresql',
  ),
  DATABASE_PREPARED: storage.choice(
    'Whether statements are prepared by name; `on` unless DATABASE_URL leads to a pooler. PgBouncer keeps them from 1.21 on, with max_prepared_statements',
    ['on', 'off'],
  ),
  BLOB_STORE: storage.blobs(
    'Where workspaces, backups and mails without a server are kept: `postgres` (the database), `s3://bucket/prefix` (large pieces there, the rest in the database) or `folder` (DATA_DIR, for one machine). Unset: `postgres` with DATABASE_URL, `folder` with the embedded database',
  ),
  S3_ENDPOINT: storage.url('The object store’s address; Amazon’s for S3_REGION when unset'),
  S3_REGION: storage.textOr('Its region', 'us-east-1'),
  S3_ACCESS_KEY_ID: storage.text('Its account'),
  S3_SECRET_ACCESS_KEY: storage.secret('Its account’s secret'),
  DATABASE_POOL: storage.whole('Connections that one process keeps to the database', 10, 2, 200),
  REDIS_URL: storage.text('Counters shared by all processes; unset: counters in the process', undefined, {
    secret: true,
  }),

  INTERNAL_API_KEY: secrets.secret('Key with which the services call each other'),
  SESSION_SECRET: secrets.secret('Signs CSRF tokens, user headers and federated sessions'),
  FEDERATED_SESSION_SECRET: secrets.secret('Signs federated sessions; SESSION_SECRET when unset'),
  WALLET_ENCRYPTION_KEY: secrets.secret(
    'Encrypts wallet keys, provider tokens and channel tokens at rest. To change it: `new,old`; the first seals, all open',
  ),

  ADMIN_EMAILS: people.list('Administrators'),
  TESTER_EMAILS: people.list('People who need no subscription'),
  OWNER_EMAIL: people.textOr('E-mail of the owner account that a first start creates', 'owner@troupe.local'),
  EMAIL_VERIFICATION: people.choice(
    '`off` is allowed only on a loopback address without SMTP_URL, and is the default there',
    ['on', 'off'],
  ),
  SMTP_URL: people.server(
    'Mail server; unset: mails are kept, in DATA_DIR/outbox or for `npm run outbox`, as BLOB_STORE says',
    'smtp',
    'smtps',
  ),
  MAIL_FROM: people.textOr('Sender of mails', 'Troupe <no-reply@localhost>'),
  BOT_CHALLENGE_KEY: people.secret('Set: sign-up and password reset ask for a proof of work'),

  AGENT_DRIVER: agents.oneOf('What runs the agents', ['embedded', 'docker', 'swarm', 'kubernetes'], 'embedded'),
  AGENTS_DOMAIN: agents.textOr('Domain below which each agent has its own name', 'agents.localhost'),
  AGENT_IMAGE: agents.text(
    'Image that containers run; unset: troupe-agent:<release>, which the platform builds itself, but for a cluster, which must be able to get it (`npm run agent:image`)',
  ),
  DOCKER_HOST: agents.text('Docker engine: a socket path or a tcp URL; the local socket when unset'),
  SWARM_NETWORK: agents.text(
    'With AGENT_DRIVER=swarm: the overlay network in which agents and the platform are. With it, and with SWARM_VOLUME_DRIVER, agents are on any node; unset: on the node whose engine DOCKER_HOST names',
  ),
  SWARM_VOLUME_DRIVER: agents.text('Driver of their volumes, which every node must reach; not `local`'),
  SWARM_VOLUME_OPTIONS: agents.text('What it is told of each volume, as name=value name=value'),
  KUBECONFIG: agents.text(
    'Cluster of AGENT_DRIVER=kubernetes: the path of a kubeconfig; unset in a pod of the cluster, which has a service account',
  ),
  KUBERNETES_NAMESPACE: agents.text(
    'Namespace of agents in a cluster; that of the pod or of the kubeconfig when unset',
  ),
  KUBERNETES_STORAGE_CLASS: agents.text('Storage class of their data; the cluster’s default when unset'),
  KUBERNETES_SERVICE_HOST: agents.text('API server of the cluster; Kubernetes sets it in every pod'),
  KUBERNETES_SERVICE_PORT: agents.whole('Its port; Kubernetes sets it in every pod', 443, 1, 65535),
  AGENT_PRIVATE_HOSTS: agents.list(
    'Hosts of your own network that agents may reach, `name` or `name:port`, such as MCP servers, and ports of this machine beside 80 and 443; every user’s agents may',
  ),
  AGENT_PACKAGES: agents.oneOf(
    'Whether MCP servers may be npm packages (`npx -y …`): `on` installs them into DATA_DIR, pinned and without their scripts',
    ['on', 'off'],
    'on',
  ),
  NPM_REGISTRY_URL: agents.url('Registry that such packages come from; https://registry.npmjs.org when unset'),
  AGENT_HOST_NETWORK: agents.flag(
    '`true`: on an engine without a bridge agents in containers share this machine’s network, and reach what listens on its loopback; otherwise they are refused there',
  ),
  PROVISIONING_DISABLED: agents.flag('`true`: nothing new is provisioned'),

  AI_CATALOGUE: ai.text('File that replaces the built-in catalogue of models and rates'),
  AI_SANDBOX: ai.oneOf('The built-in model that needs no provider; never in production', ['on', 'off'], 'on'),
  TOKEN_QUOTAS: ai.oneOf('Enforce the monthly token quota of each plan', ['on', 'off'], 'off'),
  OPENROUTER_API_KEY: ai.secret('Key for the aggregator, the default provider'),
  OPENROUTER_BASE_URL: ai.urlOr('Its address', 'https://openrouter.ai/api/v1'),
  ANTHROPIC_API_KEY: ai.secret('Key for Anthropic'),
  ANTHROPIC_BASE_URL: ai.urlOr('Its address', 'https://api.anthropic.com'),
  OPENAI_API_KEY: ai.secret('Key for OpenAI'),
  OPENAI_BASE_URL: ai.urlOr('Its address', 'https://api.openai.com/v1'),
  GEMINI_API_KEY: ai.secret('Key for Gemini'),
  GEMINI_BASE_URL: ai.urlOr('Its OpenAI-compatible address', 'https://generativelanguage.googleapis.com/v1beta/openai'),
  GROQ_API_KEY: ai.secret('Key for Groq'),
  GROQ_BASE_URL: ai.urlOr('Its address', 'https://api.groq.com/openai/v1'),
  OLLAMA_BASE_URL: ai.url('Address of an Ollama server'),

  IDP1_CLIENT_ID: identity.text('Code-hosting provider: client id'),
  IDP1_CLIENT_SECRET: identity.secret('Code-hosting provider: client secret'),
  IDP1_BASE_URL: identity.urlOr('Code-hosting provider: address', 'https://github.com'),
  IDP2_CLIENT_ID: identity.text('General provider: client id; a comma list is accepted as audience of security events'),
  IDP2_CLIENT_SECRET: identity.secret('General provider: client secret'),
  IDP2_ISSUER: identity.urlOr('General provider: issuer', 'https://accounts.google.com'),
  IDP2_TRUST_EMAIL: identity.oneOf(
    'General provider: an address that it neither calls verified nor unverified counts as verified. Only for a provider whose addresses your organisation gives out: Microsoft Entra sends no `email_verified`',
    ['on', 'off'],
    'off',
  ),
  FEDERATED_ISSUER: identity.url('Issuer of federated identity tokens'),
  FEDERATED_AUDIENCE: identity.text('Audience of federated identity tokens'),

  BILLING_SECRET_KEY: billing.secret('Secret key of the card processor'),
  BILLING_WEBHOOK_SECRET: billing.secret(
    'Secret that signs its webhooks; several by commas, one for each address that it sends to',
  ),
  BILLING_API_BASE: billing.url('Its address; the processor’s own when unset'),

  CHAIN_RPC_URL: chain.url('RPC of the stablecoin chain'),
  CHAIN_TESTNET: chain.flag('`true`: the test network of that chain'),
  L2_RPC_URL: chain.url('RPC of the L2 network: wallet sign-in, token gating, payouts'),
  GATING_TOKEN_ADDRESS: chain.address('Token whose holders have access'),
  GATING_MIN_BALANCE: chain.units('How much of it, in its smallest unit', 10n ** 18n),
  PAYEE_ADDRESS: chain.address('Who is paid; unset: no payment by chain is asked for'),
  L2_PAYEE_ADDRESS: chain.address('Who is paid in USDC on the L2 network; unset: it is not offered there'),
  PAYMENT_TOKEN: chain.address('Token that is paid in', '0x20c0000000000000000000000000000000000000'),
  SETTLEMENT_KEY: chain.secret('Private key that settles on-chain; unset: settlement in the ledger alone'),
  PAYMENT_SESSION_FUNDING: chain.choice(
    '`sandbox` (play money) is allowed only on a loopback address, and is the default there',
    ['required', 'sandbox'],
  ),
  CDP_PROJECT_ID: chain.text('Custody by CDP: project'),
  CDP_API_KEY_ID: chain.text('Custody by CDP: key id'),
  CDP_API_KEY_SECRET: chain.secret('Custody by CDP: key secret'),
  CDP_WALLET_SECRET: chain.secret('Custody by CDP: wallet secret'),
  CDP_API_BASE: chain.urlOr('Custody by CDP: address', 'https://api.cdp.coinbase.com'),
  PAYGATE_URL: chain.url('Upstream of the payment gateway; unset: the built-in gateway'),
  PLUGIN_AGENT_URL: chain.url('Serves the plugin `agent`; the platform itself when unset'),
  PLUGIN_GENERATE_TEXT_URL: chain.url('Serves the plugin `generate-text`; the platform itself when unset'),
  PLUGIN_TTS_URL: chain.url('Serves the plugin `tts`'),
  PLUGIN_STT_URL: chain.url('Serves the plugin `stt`'),

  LIVESTREAM_TOKEN_ID: outside.text('Live streams: token id'),
  LIVESTREAM_TOKEN_SECRET: outside.secret('Live streams: token secret'),
  LIVESTREAM_API_BASE: outside.urlOr('Live streams: address', 'https://api.mux.com'),
  HOSTING_API_URL: outside.url('Hosting platform: address'),
  HOSTING_API_KEY: outside.secret('Hosting platform: key'),
  HOSTING_OWNER_ID: outside.text('Hosting platform: owner of new services'),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof TABLE;
export type Settings = { [K in SettingName]: (typeof TABLE)[K] extends Setting<infer T> ? T : never };

export type Env = Readonly<Record<string, string | undefined>>;

/** Reads all settings; every problem is reported at once, one line each. */
export function readSettings(env: Env): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { schema, expected, secret }] of Object.entries(TABLE)) {
    const parsed = schema.safeParse(env[name]);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${name} is ${secret ? '[redacted]' : JSON.stringify(env[name])}, expected ${expected}`);
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  return values as Settings;
}

export interface SettingDoc {
  name: string;
  section: string;
  doc: string;
  example: string;
  secret: boolean;
}

export const settingDocs = (): SettingDoc[] =>
  Object.entries(TABLE).map(([name, { section: part, doc, example, secret }]) => ({
    name,
    section: part,
    doc,
    example,
    secret,
  }));

const LOOPBACK_HOSTS = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

export const isLoopbackHost = (name: string): boolean => LOOPBACK_HOSTS.test(name);

/**
 * What the contract leaves open to anybody stays open only while this holds: nothing but this machine can reach the
 * service, it is not offered under a public name, and it is not in production.
 */
export function loopbackOnly(settings: Pick<Settings, 'HOST' | 'BASE_URL' | 'NODE_ENV'>): boolean {
  const publicHost = settings.BASE_URL === undefined ? 'localhost' : new URL(settings.BASE_URL).hostname;
  return settings.NODE_ENV !== 'production' && isLoopbackHost(settings.HOST) && isLoopbackHost(publicHost);
}
