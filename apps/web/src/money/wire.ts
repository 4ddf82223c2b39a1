import type { Accounts } from '@troupe/accounts';
import type { Catalogue } from '@troupe/domain';
import { createKeyring, createWallets, type Wallets } from '@troupe/chain';
import {
  closeAll,
  hmacHex,
  loopbackOnly,
  secretList,
  StartError,
  type BackendClient,
  type Server,
  type Settings,
} from '@troupe/kernel';
import type { Ledger } from '@troupe/ledger';
import type { WebDeps } from '../deps.ts';
import { billingRoutes } from './billing/routes.ts';
import { createBilling } from './billing/service.ts';
import { createCardEvents } from './card-events.ts';
import { createCardProcessor } from './card-processor.ts';
import type { Chains } from './chains.ts';
import { createBooks } from './gateway/books.ts';
import { createBuiltIn, type AskAgent } from './gateway/built-in.ts';
import { createChainPayments, type ChainPayments } from './gateway/pay-402.ts';
import { createCardPayments } from './gateway/pay-card.ts';
import { createSessionPayments } from './gateway/pay-session.ts';
import { createPlugins, type Plugins } from './gateway/plugins.ts';
import { gatewayRoutes } from './gateway/routes.ts';
import { createGateway } from './gateway/service.ts';
import { costsRoutes } from './costs/routes.ts';
import { createCostsService } from './costs/service.ts';
import { ledgerRoutes } from './ledger/routes.ts';
import { createLedgerService } from './ledger/service.ts';
import { createBuiltInColony } from './paygate/built-in.ts';
import type { Colony } from './paygate/colony.ts';
import { createPayouts, type Payouts } from './paygate/payouts.ts';
import { paygateRoutes } from './paygate/routes.ts';
import { createPaygate } from './paygate/service.ts';
import { createUpstream } from './paygate/upstream.ts';
import { paymentSessionRoutes } from './payment-sessions/routes.ts';
import { createPaymentSessions } from './payment-sessions/service.ts';
import { createSettlements } from './payment-sessions/settlements.ts';
import { policyRoutes } from './policy/routes.ts';
import { createPolicies } from './policy/service.ts';
import { createSettlementKey, type SettlementKey } from './settlement-key.ts';
import { createTills } from './tills.ts';
import { topUpRoutes } from './topup/routes.ts';
import { createTopUps } from './topup/service.ts';
import { createSums } from './sums.ts';
import { usageRoutes } from './usage/routes.ts';
import { createUsage } from './usage/service.ts';
import { createOwnsAddress, type OwnsAddress } from './wallet-access.ts';
import { createCustody } from './wallet/custody.ts';
import { walletRoutes } from './wallet/routes.ts';
import { createWalletService } from './wallet/service.ts';

interface MoneyDeps extends WebDeps {
  accounts: Accounts;
  backend: BackendClient;
  catalogue: Catalogue;
  chains: Chains;
  ledger: Ledger;
  /** The payer's main agent. */
  askAgent: AskAgent;
}

/** Wires what is paid for, and how: plans, wallets, top-ups, plugins, what agents pay, and what all of it cost. */
export async function wireMoney(server: Server, deps: MoneyDeps): Promise<{ close: () => Promise<void> }> {
  const { log, db, jobs, clock, chains, ledger, secrets, settings } = deps;
  const wallets = createWallets({ db, keyring: createKeyring(secrets.walletKey), clock });
  if (secretList(secrets.walletKey).length > 1) log.info({ keys: await wallets.rotate() }, 'wallet keys sealed anew');
  const custody = createCustody({ settings, clock, log });
  walletRoutes(server, createWalletService({ ...chains, wallets, custody, log, db, ledger }));
  const sums = createSums();
  const usage = createUsage({ db, clock, sums, tokenQuotas: settings.TOKEN_QUOTAS === 'on' });
  usageRoutes(server, usage);
  costsRoutes(server, createCostsService({ db, clock, usage, sums }));
  wireCards(server, deps);

  const ownsAddress = createOwnsAddress({ wallets, verifier: chains.verifier, clock });
  ledgerRoutes(server, createLedgerService({ db, ledger, ownsAddress }));
  const key = createSettlementKey(settings, chains.chain);
  const payouts = createPayouts({ db, ledger, jobs, clock, key });
  const parts: Parts = { ...deps, wallets, ownsAddress, key, payouts };
  const plugins = wireGateway(server, parts);
  const colony = wirePaygate(server, parts, plugins);
  return { close: () => closeAll([plugins, colony]) };
}

/** Plans and top-ups, both paid at the card processor. */
function wireCards(server: Server, deps: MoneyDeps): void {
  const { db, clock, log, ledger, settings } = deps;
  const baseUrl = settings.BASE_URL ?? server.url;
  const processor = createCardProcessor(deps);
  const cardEvents = createCardEvents(processor);
  const billing = createBilling({ ...deps, baseUrl, processor });
  const topUps = createTopUps({ db, ledger, processor, clock, log, baseUrl });
  cardEvents.tell(billing.take);
  cardEvents.tell(topUps.take);
  billingRoutes(server, billing, cardEvents);
  topUpRoutes(server, topUps, cardEvents);
}

interface Parts extends MoneyDeps {
  wallets: Wallets;
  ownsAddress: OwnsAddress;
  key: SettlementKey | null;
  payouts: Payouts;
}

/** Plugins, and the three ways to pay for them. */
function wireGateway(server: Server, parts: Parts): Plugins {
  const { db, jobs, log, clock, chains, wallets, ledger, ownsAddress, key } = parts;
  const { settings } = server;
  const builtIn = createBuiltIn(parts.backend, parts.catalogue, parts.askAgent);
  const plugins = createPlugins({ settings, log, builtIn });
  const chainPayments = wireChainPayments(parts, plugins);
  const sessions = createPaymentSessions({
    db,
    ledger,
    clock,
    settlements: createSettlements({ db, ledger, jobs, log, clock, key }),
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

/** Null: nobody can be paid on a chain. */
function wireChainPayments(parts: Parts, plugins: Plugins): ChainPayments | null {
  const { log, db, jobs, clock, secrets, settings, chains, ledger, key, payouts } = parts;
  const tills = createTills(settings, key, chains.l2);
  if (tills.length === 0) return null;
  return createChainPayments({
    tills,
    jobs,
    log,
    clock,
    db,
    secret: hmacHex(secrets.sessionSecret, 'http 402'),
    ...createBooks({ ledger, payouts, plugins }),
  });
}

/** What agents pay, under their owners' policies. */
function wirePaygate(server: Server, parts: Parts, plugins: Plugins): Colony {
  const { db, jobs, log, clock, wallets, accounts, ledger, payouts } = parts;
  const url = server.settings.PAYGATE_URL;
  const { audit } = accounts;
  const policies = createPolicies({
    db,
    audit,
    clock,
    jobs,
    abandoned: url === undefined ? 'failed' : 'unknown',
  });
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

function fundingOf(settings: Settings): 'required' | 'sandbox' {
  const mayBePlay = loopbackOnly(settings);
  if (settings.PAYMENT_SESSION_FUNDING === 'sandbox' && !mayBePlay)
    throw new StartError(
      'PAYMENT_SESSION_FUNDING is "sandbox", which is allowed only on a loopback address and outside production: set it to required.',
    );
  return settings.PAYMENT_SESSION_FUNDING ?? (mayBePlay ? 'sandbox' : 'required');
}
