import type { Accounts } from '@troupe/accounts';
import {
  createChainClient,
  createKeyring,
  createRecover,
  createVerifier,
  createWallets,
  l2Network,
} from '@troupe/chain';
import { closeAll, createOutbound, type Outbound, type Running, type Server } from '@troupe/kernel';
import { createLedger } from '@troupe/ledger';
import type { Roster } from '@troupe/roster';
import type { BackendDeps } from '../deps.ts';
import { createMustOwn } from './access.ts';
import { createDelivery, type Deliver } from './bus/delivery.ts';
import { createDoors } from './bus/doors.ts';
import { busRoutes } from './bus/routes.ts';
import { createBus } from './bus/service.ts';
import { eventRoutes } from './events/routes.ts';
import { createEvents } from './events/service.ts';
import { negotiationRoutes } from './negotiation/routes.ts';
import { createNegotiation } from './negotiation/service.ts';
import { createAdmit } from './spending.ts';
import { createPayouts } from './splits/payouts.ts';
import { splitRoutes } from './splits/routes.ts';
import { createSplits } from './splits/service.ts';
import { walletRoutes } from './wallets/routes.ts';
import { createAgentWallets } from './wallets/service.ts';

export interface UndergroundDeps extends BackendDeps {
  accounts: Accounts;
  roster: Roster;
  /** To agents that run on the platform. */
  deliver: Deliver;
  /** To webhooks. */
  outbound?: Outbound;
  retries?: number;
}

/** Wires how agents deal with each other: wallets, messages, deals, events, splits. */
export function wireUnderground(server: Server, deps: UndergroundDeps): Running {
  const { settings, db, jobs, log, clock, secrets, accounts, deliver, retries, outbound = createOutbound() } = deps;
  const rpcUrl = settings.L2_RPC_URL;
  const l2 = rpcUrl === undefined ? undefined : createChainClient({ rpcUrl, network: l2Network });
  const recover = createRecover();
  const verifier = createVerifier({ recover });
  const contracts = l2 && createVerifier({ recover, chain: l2 });
  const ledger = createLedger({ clock });
  const keys = createWallets({ db, keyring: createKeyring(secrets.walletKey), clock });
  const mustOwn = createMustOwn(deps.roster);
  const admit = createAdmit({ clock });

  const wallets = createAgentWallets({ db, ledger, wallets: keys, verifier: contracts ?? verifier, mustOwn, l2 });
  walletRoutes(server, wallets);

  const negotiation = createNegotiation({ db, clock });
  negotiationRoutes(server, negotiation);
  const { negotiate } = negotiation;
  const delivery = createDelivery({ db, jobs, clock, outbound, deliver, retries });
  const doors = createDoors({ db, clock, mustOwn });
  const signatures = { wallets: keys, verifier, contracts };
  busRoutes(server, createBus({ db, clock, accounts, ...signatures, mustOwn, negotiate, delivery, doors }), doors);

  eventRoutes(server, createEvents({ db, clock, ledger, wallets, mustOwn, admit }));
  const payouts = createPayouts({ db, jobs, log, ledger, wallets: keys, l2 });
  splitRoutes(server, createSplits({ db, clock, log, ledger, wallets: keys, payouts, mustOwn, admit, l2 }));
  return { close: () => closeAll([outbound, recover]) };
}
