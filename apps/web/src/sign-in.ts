import type { Accounts } from '@troupe/accounts';
import { createOutbound, type Outbound, type Server } from '@troupe/kernel';
import { createCardProcessor } from './card-processor.ts';
import type { Chains } from './chains.ts';
import type { WebDeps } from './deps.ts';
import { createFailedSignIns } from './failed-sign-ins.ts';
import { billingRoutes } from './features/billing/routes.ts';
import { createBilling } from './features/billing/service.ts';
import { createGating } from './features/federated/gating.ts';
import { createIdentityTokens } from './features/federated/identity-token.ts';
import { federatedRoutes } from './features/federated/routes.ts';
import { createFederated } from './features/federated/service.ts';
import { createIdp1 } from './features/oauth/idp1.ts';
import { createIdp2 } from './features/oauth/idp2.ts';
import { oauthRoutes } from './features/oauth/routes.ts';
import { createOAuth } from './features/oauth/service.ts';
import { riscRoutes } from './features/risc/routes.ts';
import { createRisc } from './features/risc/service.ts';
import { createTokenReader } from './features/risc/token.ts';
import { walletAuthRoutes } from './features/wallet-auth/routes.ts';
import { createWalletAuth } from './features/wallet-auth/service.ts';
import type { MailRoom } from './mail.ts';

interface SignInDeps extends WebDeps {
  accounts: Accounts;
  chains: Chains;
  mail: MailRoom;
}

/** Wires what others vouch for: identity providers, wallets, security events, the card processor. */
export function addSignIn(server: Server, deps: SignInDeps): { close: () => Promise<void> } {
  const { settings, url, secrets, chains } = deps;
  const baseUrl = settings.BASE_URL ?? url;
  // The operator names the providers: they may be on the own network.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true });

  billingRoutes(server, createBilling({ ...deps, baseUrl, processor: createCardProcessor(deps) }));
  oauthRoutes(
    server,
    createOAuth({
      ...deps,
      failedSignIns: createFailedSignIns({ ...deps, audit: deps.accounts.audit }),
      sessionSecret: secrets.sessionSecret,
      secure: baseUrl.startsWith('https:'),
      providers: identityProviders(deps, baseUrl, outbound),
    }),
  );
  walletAuthRoutes(server, createWalletAuth({ ...deps, baseUrl, verifier: chains.l2Verifier }));
  const audiences = clientIds(settings.IDP2_CLIENT_ID);
  const readToken = createTokenReader({ ...deps, outbound, issuer: settings.IDP2_ISSUER, audiences });
  riscRoutes(server, createRisc({ ...deps, baseUrl, readToken }));
  federatedRoutes(
    server,
    createFederated({
      ...deps,
      secret: secrets.federatedSecret,
      gating: createGating({ settings, chain: chains.l2 }),
      readToken: identityTokens(deps, outbound),
    }),
  );
  return outbound;
}

/** One of them signs people in, security events may be for any. */
const clientIds = (setting: string | undefined): string[] =>
  (setting ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter(Boolean);

function identityTokens({ settings, counters, clock }: SignInDeps, outbound: Outbound) {
  const { FEDERATED_ISSUER: issuer, FEDERATED_AUDIENCE: audience } = settings;
  return issuer && audience ? createIdentityTokens({ issuer, audience, outbound, counters, clock }) : undefined;
}

function identityProviders({ settings, clock }: SignInDeps, baseUrl: string, outbound: Outbound) {
  const { IDP1_CLIENT_ID: id1, IDP1_CLIENT_SECRET: secret1, IDP2_CLIENT_SECRET: secret2 } = settings;
  const [id2] = clientIds(settings.IDP2_CLIENT_ID);
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
            clientId: id2,
            clientSecret: secret2,
            redirectUri: redirectUri('idp2'),
            issuer: settings.IDP2_ISSUER,
            outbound,
            clock,
          })
        : undefined,
  };
}
