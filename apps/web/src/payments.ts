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
import { createBuiltIn } from './features/gateway/built-in.ts';
import { createChainPayments } from './features/gateway/pay-402.ts';
import { createCardPayments } from './features/gateway/pay-card.ts';
import { createSessionPayments } from './features/gateway/pay-session.ts';
import { createPlugins } from './features/gateway/plugins.ts';
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
import { paygateRoutes } from './features/paygate/routes.ts';
import { createPaygate } from './features/paygate/service.ts';
import { createUpstream } from './features/paygate/upstream.ts';
import { paymentSessionRoutes } from './features/payment-sessions/routes.ts';
import { createPaymentSessions } from './features/payment-sessions/service.ts';
import { createSettlements } from './features/payment-sessions/settlements.ts';
import { createSessionStore } from './features/payment-sessions/store.ts';
import { createSettlementKey } from './settlement-key.ts';
import { createOwnsAddress } from './wallet-access.ts';

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
  const { log, db, jobs, clock, secrets, backend, chains, wallets, accounts } = deps;
  const { settings } = server;
  const ledger = createLedger({ clock });
  const ownsAddress = createOwnsAddress({ wallets, verifier: chains.verifier, clock });
  const baseUrl = settings.BASE_URL ?? server.url;
  const processor = createCardProcessor({ settings, clock, missingStatus: 500 });
  topUpRoutes(server, createTopUps({ db, ledger, processor, store: createTopUpStore({ db, clock }), log, baseUrl }));
  ledgerRoutes(server, createLedgerService({ db, ledger, ownsAddress }));

  const builtIn = createBuiltIn(backend, readCatalogue(settings.AI_CATALOGUE));
  const plugins = createPlugins({ settings, log, builtIn });
  const key = createSettlementKey(settings, chains.chain);
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

  const policies = createPolicies({
    db,
    store: createPolicyStore({ db, clock }),
    audit: accounts.audit,
    jobs,
    paysHere: settings.PAYGATE_URL === undefined,
  });
  const colony =
    settings.PAYGATE_URL === undefined
      ? createBuiltInColony({ db, ledger, wallets, clock, offers: plugins.offers, record: policies.record })
      : createUpstream({ url: settings.PAYGATE_URL, log });
  const paygate = createPaygate({ db, colony, policies, audit: accounts.audit });
  paygateRoutes(server, paygate);
  policyRoutes(server, { policies, decide: (...given) => paygate.decide(...given) });
  return { close: () => closeAll([plugins, colony]) };
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
