import type { Accounts } from '@troupe/accounts';
import type { Server } from '@troupe/kernel';
import { createCardProcessor } from './card-processor.ts';
import type { Chains } from './chains.ts';
import type { WebDeps } from './deps.ts';
import { billingRoutes } from './features/billing/routes.ts';
import { createBilling } from './features/billing/service.ts';

interface SignInDeps extends WebDeps {
  accounts: Accounts;
  chains: Chains;
}

/** Wires what others vouch for: identity providers, wallets, security events, the card processor. */
export function signInRoutes(server: Server, deps: SignInDeps): void {
  const { settings, url } = deps;
  const baseUrl = settings.BASE_URL ?? url;
  billingRoutes(server, createBilling({ ...deps, baseUrl, processor: createCardProcessor(deps) }));
}
