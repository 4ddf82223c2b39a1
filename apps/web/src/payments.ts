import { readCatalogue } from '@troupe/ai';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import type { Accounts } from '@troupe/accounts';
import {
  closeAll,
  hmacHex,
  loopbackOnly,
  StartError,
  type BackendClient,
  type Clock,
  type Log,
  type Secrets,
  type Server,
  type Settings,
} from '@troupe/kernel';
import type { Wallets } from '@troupe/chain';
import { CHAIN, createLedger, REVENUE, type Ledger } from '@troupe/ledger';
import { createCardProcessor } from './card-processor.ts';
import type { Chains } from './chains.ts';
import { createRegistry } from '@troupe/fleet';
import { createChat } from './features/chat/service.ts';
import { createBuiltIn, type AskAgent } from './features/gateway/built-in.ts';
import { createChainPayments } from './features/gateway/pay-402.ts';
import { createCardPayments } from './features/gateway/pay-card.ts';
import { createSessionPayments } from './features/gateway/pay-session.ts';
import { createPlugins, type Plugins } from './features/gateway/plugins.ts';
import { gatewayRoutes } from './features/gateway/routes.ts';
import { createGateway } from './features/gateway/service.ts';
import { createGatewayStore } from './features/gateway/store.ts';
import { ledgerRoutes } from './features/ledger/routes.ts';
import { createLedgerService } from './features/ledger/service.ts';
import { policyRoutes } from './features/policy/routes.ts';
import { createPolicies } from './features/policy/service.ts';
import { createPolicyStore } from './features/policy/store.ts';
import { topUpRoutes } from './features/topup/routes.ts';
import { createTopUps } from './features/topup/service.ts';
import { createTopUpStore } from './features/topup/store.ts';
import { createBuiltInColony } from './features/paygate/built-in.ts';
import type { Colony } from './features/paygate/colony.ts';
import { createPayouts } from './features/paygate/payouts.ts';
import { paygateRoutes } from './features/paygate/routes.ts';
import { createPaygate } from './features/paygate/service.ts';
import { createUpstream } from './features/paygate/upstream.ts';
import { paymentSessionRoutes } from './features/payment-sessions/routes.ts';
import { createPaymentSessions } from './features/payment-sessions/service.ts';
import { createSettlements } from './features/payment-sessions/settlements.ts';
import { createSessionStore } from './features/payment-sessions/store.ts';
import { createSettlementKey, type SettlementKey } from './settlement-key.ts';
import { createOwnsAddress, type OwnsAddress } from './wallet-access.ts';

interface PaymentDeps {
  db: Database;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  secrets: Secrets;
  backend: BackendClient;
  chains: Chains;
  wallets: Wallets;
  accounts: Accounts;
}

/** What is paid for, and how. */
export function addPayments(server: Server, deps: PaymentDeps): { close: () => Promise<void> } {
  const { log, db, clock, chains, wallets } = deps;
  const { settings } = server;
  const ledger = createLedger({ clock });
  const ownsAddress = createOwnsAddress({ wallets, verifier: chains.verifier, clock });
  const baseUrl = settings.BASE_URL ?? server.url;
  const processor = createCardProcessor({ settings, clock, missingStatus: 500 });
  topUpRoutes(server, createTopUps({ db, ledger, processor, store: createTopUpStore({ db, clock }), log, baseUrl }));
  ledgerRoutes(server, createLedgerService({ db, ledger, ownsAddress }));

  const parts: Parts = { ...deps, ledger, ownsAddress, key: createSettlementKey(settings, chains.chain) };
  const plugins = addGateway(server, parts);
  const colony = addPaygate(server, parts, plugins);
  return { close: () => closeAll([plugins, colony]) };
}

interface Parts extends PaymentDeps {
  ledger: Ledger;
  ownsAddress: OwnsAddress;
  key: SettlementKey | null;
}

/** Plugins, and the three ways to pay for them. */
function addGateway(server: Server, parts: Parts): Plugins {
  const { log, db, jobs, clock, secrets, chains, wallets, ledger, ownsAddress, key } = parts;
  const { settings } = server;
  const builtIn = createBuiltIn(parts.backend, readCatalogue(settings.AI_CATALOGUE), createAskAgent(parts));
  const plugins = createPlugins({ settings, log, builtIn });
  const chainPayments =
    key &&
    createChainPayments({
      key,
      jobs,
      log,
      clock,
      store: createGatewayStore({ db, clock }),
      secret: hmacHex(secrets.sessionSecret, 'http 402'),
      book: (tx, payment) => bookIncome(tx, ledger, payment.id, plugins.find(payment.plugin)?.price ?? payment.units),
    });
  const sessionStore = createSessionStore({ db, clock });
  const sessions = createPaymentSessions({
    db,
    ledger,
    store: sessionStore,
    settlements: createSettlements({ db, ledger, jobs, log, clock, store: sessionStore, key }),
    verifier: chains.verifier,
    chainId: chains.network.id,
    ownsAddress,
    funding: fundingOf(settings),
    open: server.loopback,
    priceOf: (id) => plugins.find(id)?.price ?? null,
  });
  paymentSessionRoutes(server, sessions);
  const byCard = createCardPayments({ db, ledger, jobs, clock, wallets });
  const bySession = createSessionPayments({ sessions, wallets, jobs, chainId: chains.network.id });
  gatewayRoutes(server, createGateway({ plugins, chainPayments, byCard, bySession, clock }));
  return plugins;
}

/** The payer's main agent, as a chat reaches it. */
function createAskAgent({ db, clock, secrets, backend }: Parts): AskAgent {
  const registry = createRegistry({ db, clock, sealKey: secrets.walletKey });
  const chat = createChat({ registry, backend, clock });
  return async (user, message, address, signal) => {
    const agentId = (await registry.list(user.id))[0]?.id;
    if (agentId === undefined) return null;
    const { reply } = await chat.send(user, { message, agentId, topic: 'gateway' }, address, signal);
    return { agentId, reply };
  };
}

/** What agents pay, under their owners' policies. */
function addPaygate(server: Server, parts: Parts, plugins: Plugins): Colony {
  const { db, jobs, log, clock, wallets, accounts, ledger, key } = parts;
  const url = server.settings.PAYGATE_URL;
  const { audit } = accounts;
  const policies = createPolicies({
    db,
    store: createPolicyStore({ db, clock }),
    audit,
    clock,
    jobs,
    abandoned: url === undefined ? 'failed' : 'unknown',
  });
  const payouts = createPayouts({ db, ledger, jobs, clock, key });
  const { offers } = plugins;
  const colony =
    url === undefined
      ? createBuiltInColony({ db, ledger, wallets, clock, payouts, offers, record: policies.record })
      : createUpstream({ url, log });
  const paygate = createPaygate({ db, colony, policies, audit });
  paygateRoutes(server, paygate);
  policyRoutes(server, { policies, decide: (...given) => paygate.decide(...given) });
  return colony;
}

/** A payment over HTTP 402 went straight to the payee on-chain. */
async function bookIncome(tx: SystemTx, ledger: Ledger, paymentId: string, units: bigint): Promise<void> {
  await ledger.open(tx, [CHAIN, REVENUE]);
  await ledger.post(tx, {
    key: `402:${paymentId}`,
    kind: 'plugin',
    entries: [
      { account: CHAIN.id, amount: -units },
      { account: REVENUE.id, amount: units },
    ],
  });
}

function fundingOf(settings: Settings): 'required' | 'sandbox' {
  const mayBePlay = loopbackOnly(settings);
  if (settings.PAYMENT_SESSION_FUNDING === 'sandbox' && !mayBePlay)
    throw new StartError(
      'PAYMENT_SESSION_FUNDING is "sandbox", which is allowed only on a loopback address and outside production: set it to required.',
    );
  return settings.PAYMENT_SESSION_FUNDING ?? (mayBePlay ? 'sandbox' : 'required');
}
