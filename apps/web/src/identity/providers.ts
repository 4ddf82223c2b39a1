import type { Accounts } from '@troupe/accounts';
import type { ChainClient, Verifier } from '@troupe/chain';
import { createOutbound, type BackendClient, type Outbound, type Server } from '@troupe/kernel';
import type { Ledger } from '@troupe/ledger';
import type { WebDeps } from '../deps.ts';
import { createFailedSignIns } from './failed-sign-ins.ts';
import { createGating } from './federated/gating.ts';
import { createIdentityTokens } from './federated/identity-token.ts';
import { federatedRoutes } from './federated/routes.ts';
import { createFederated } from './federated/service.ts';
import { createIdp1 } from './oauth/idp1.ts';
import { createIdp2 } from './oauth/idp2.ts';
import type { Joining } from './joining/service.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { createOAuth } from './oauth/service.ts';
import { riscRoutes } from './risc/routes.ts';
import { createRisc } from './risc/service.ts';
import { createTokenReader } from './risc/token.ts';
import { walletAuthRoutes } from './wallet-auth/routes.ts';
import { createWalletAuth } from './wallet-auth/service.ts';
import type { MailRoom } from '../platform/mail.ts';

export interface ProviderDeps extends WebDeps {
  accounts: Accounts;
  mail: MailRoom;
  backend: BackendClient;
  ledger: Ledger;
  /** The network of wallets that sign in, and who checks their signatures; undefined: none is configured. */
  l2: ChainClient | undefined;
  l2Verifier: Verifier | undefined;
}

/** Wires what others vouch for: identity providers, wallets, security events. */
export function wireProviders(
  server: Server,
  deps: ProviderDeps & { joining: Joining },
): { close: () => Promise<void> } {
  const { settings, url, secrets, l2, l2Verifier } = deps;
  const baseUrl = settings.BASE_URL ?? url;
  // The operator names the providers: they may be on the own network.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true });

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
  walletAuthRoutes(server, createWalletAuth({ ...deps, baseUrl, verifier: l2Verifier }));
  const audiences = clientIds(settings.IDP2_CLIENT_ID);
  const readToken = createTokenReader({ ...deps, outbound, issuer: settings.IDP2_ISSUER, audiences });
  riscRoutes(server, createRisc({ ...deps, baseUrl, readToken }));
  federatedRoutes(
    server,
    createFederated({
      ...deps,
      secret: secrets.federatedSecret,
      gating: createGating({ settings, chain: l2 }),
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

function identityTokens({ settings, counters, clock }: ProviderDeps, outbound: Outbound) {
  const { FEDERATED_ISSUER: issuer, FEDERATED_AUDIENCE: audience } = settings;
  return issuer && audience ? createIdentityTokens({ issuer, audience, outbound, counters, clock }) : undefined;
}

function identityProviders({ settings, clock }: ProviderDeps, baseUrl: string, outbound: Outbound) {
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
            trustsEmail: settings.IDP2_TRUST_EMAIL === 'on',
            outbound,
            clock,
          })
        : undefined,
  };
}
