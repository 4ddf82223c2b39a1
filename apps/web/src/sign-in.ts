import type { Accounts } from '@troupe/accounts';
import { createOutbound, type Outbound, type Server } from '@troupe/kernel';
import { createCardProcessor } from './card-processor.ts';
import type { Chains } from './chains.ts';
import type { WebDeps } from './deps.ts';
import { billingRoutes } from './features/billing/routes.ts';
import { createBilling } from './features/billing/service.ts';
import { createIdp1 } from './features/oauth/idp1.ts';
import { createIdp2 } from './features/oauth/idp2.ts';
import { oauthRoutes } from './features/oauth/routes.ts';
import { createOAuth } from './features/oauth/service.ts';

interface SignInDeps extends WebDeps {
  accounts: Accounts;
  chains: Chains;
}

/** Wires what others vouch for: identity providers, wallets, security events, the card processor. */
export function addSignIn(server: Server, deps: SignInDeps): { close: () => Promise<void> } {
  const { settings, url, secrets } = deps;
  const baseUrl = settings.BASE_URL ?? url;
  // The operator names the providers: they may be on the own network.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true });

  billingRoutes(server, createBilling({ ...deps, baseUrl, processor: createCardProcessor(deps) }));
  oauthRoutes(
    server,
    createOAuth({
      ...deps,
      sessionSecret: secrets.sessionSecret,
      secure: baseUrl.startsWith('https:'),
      providers: identityProviders(deps, baseUrl, outbound),
    }),
  );
  return outbound;
}

function identityProviders({ settings, clock }: SignInDeps, baseUrl: string, outbound: Outbound) {
  const {
    IDP1_CLIENT_ID: id1,
    IDP1_CLIENT_SECRET: secret1,
    IDP2_CLIENT_ID: id2,
    IDP2_CLIENT_SECRET: secret2,
  } = settings;
  const redirectUri = (name: string) => `${baseUrl}/api/auth/${name}/callback`;
  return {
    idp1:
      id1 && secret1
        ? createIdp1({
            clientId: id1,
            clientSecret: secret1,
            redirectUri: redirectUri('idp1'),
            baseUrl: settings.IDP1_BASE_URL,
            outbound,
          })
        : undefined,
    idp2:
      id2 && secret2
        ? createIdp2({
            clientId: id2.split(',', 1)[0]!.trim(),
            clientSecret: secret2,
            redirectUri: redirectUri('idp2'),
            issuer: settings.IDP2_ISSUER,
            outbound,
            clock,
          })
        : undefined,
  };
}
