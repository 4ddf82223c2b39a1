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
import type { BackendDeps } from './deps.ts';
import { createAmplify } from './features/underground/amplify.ts';
import { createBookings } from './features/underground/bookings.ts';
import { createBus } from './features/underground/bus.ts';
import { createDelivery, type Deliver } from './features/underground/delivery.ts';
import { createDoors } from './features/underground/door.ts';
import { createEvents } from './features/underground/events.ts';
import { createAdmit } from './features/underground/policy.ts';
import { createPayouts } from './features/underground/payouts.ts';
import { undergroundRoutes } from './features/underground/routes.ts';
import { createSplits } from './features/underground/splits.ts';
import { createAgentWallets } from './features/underground/wallets.ts';

export interface UndergroundDeps {
  accounts: Accounts;
  /** To agents that run on the platform. */
  deliver: Deliver;
  /** To webhooks. */
  outbound?: Outbound;
  retries?: number;
}

/** How agents deal with each other: messages, bookings, events, splits. */
export function addUnderground(server: Server, deps: BackendDeps, given: UndergroundDeps): Running {
  const { settings, db, jobs, log, clock, secrets } = deps;
  const { accounts, deliver, retries, outbound = createOutbound() } = given;
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
