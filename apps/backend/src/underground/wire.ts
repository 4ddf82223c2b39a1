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
import type { BackendDeps } from '../deps.ts';
import { createAmplify } from './amplify.ts';
import { createBookings } from './bookings.ts';
import { createBus } from './bus.ts';
import { createDelivery, type Deliver } from './delivery.ts';
import { createDoors } from './door.ts';
import { createEvents } from './events.ts';
import { createAdmit } from './policy.ts';
import { createPayouts } from './payouts.ts';
import { undergroundRoutes } from './routes.ts';
import { createSplits } from './splits.ts';
import { createAgentWallets } from './wallets.ts';

export interface UndergroundDeps extends BackendDeps {
  accounts: Accounts;
  /** To agents that run on the platform. */
  deliver: Deliver;
  /** To webhooks. */
  outbound?: Outbound;
  retries?: number;
}

/** Wires how agents deal with each other: messages, bookings, events, splits. */
export function wireUnderground(server: Server, deps: UndergroundDeps): Running {
  const { settings, db, jobs, log, clock, secrets, accounts, deliver, retries, outbound = createOutbound() } = deps;
  const rpcUrl = settings.L2_RPC_URL;
  const l2 = rpcUrl === undefined ? undefined : createChainClient({ rpcUrl, network: l2Network });
  const recover = createRecover();
  const verifier = createVerifier({ recover });
  const contracts = l2 && createVerifier({ recover, chain: l2 });
  const ledger = createLedger({ clock });
  const keys = createWallets({ db, keyring: createKeyring(secrets.walletKey), clock });

  const wallets = createAgentWallets({ db, ledger, wallets: keys, verifier: contracts ?? verifier, l2 });
  const bookings = createBookings({ db, clock });
  const amplify = createAmplify({ db, clock });
  const delivery = createDelivery({ db, jobs, clock, outbound, deliver, retries });
  const doors = createDoors({ db, clock });
  const bus = createBus({
    db,
    clock,
    accounts,
    wallets: keys,
    verifier,
    contracts,
    bookings,
    amplify,
    delivery,
    doors,
  });
  const admit = createAdmit({ clock });
  const events = createEvents({ db, clock, ledger, wallets, admit });
  const payouts = createPayouts({ db, jobs, log, ledger, wallets: keys, l2 });
  const splits = createSplits({ db, clock, log, ledger, wallets: keys, payouts, admit, l2 });
  undergroundRoutes(server, { wallets, bus, doors, bookings, amplify, events, splits });
  return { close: () => closeAll([outbound, recover]) };
}
