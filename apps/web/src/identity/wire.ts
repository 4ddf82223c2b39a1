import { createOutbound, type Server } from '@troupe/kernel';
import { createAttempts, type Attempts } from './attempts.ts';
import { createBots } from './bots.ts';
import { createFactorMails } from './factor-mails.ts';
import { createFailedSignIns } from './failed-sign-ins.ts';
import { createGuesses } from './guesses.ts';
import { createKnownDevices } from './known-devices.ts';
import { partyOf } from './passkeys.ts';
import { createProofs } from './proofs.ts';
import { accessRoutes } from './access/routes.ts';
import { createAccess } from './access/service.ts';
import { accountRoutes } from './account/routes.ts';
import { createAccount } from './account/service.ts';
import { adminRoutes } from './admin/routes.ts';
import { createAdmin } from './admin/service.ts';
import { auditRoutes } from './audit/routes.ts';
import { createAuditService } from './audit/service.ts';
import { factorRoutes } from './factors/routes.ts';
import { createFactors } from './factors/service.ts';
import { authorizationRoutes } from './authorization/routes.ts';
import { createAuthorization } from './authorization/service.ts';
import { inviteRoutes } from './invites/routes.ts';
import { createInvites } from './invites/service.ts';
import { joiningRoutes } from './joining/routes.ts';
import { createJoining } from './joining/service.ts';
import { keyRoutes } from './keys/routes.ts';
import { createKeys, type Keys } from './keys/service.ts';
import { passwordRoutes } from './password/routes.ts';
import { createPasswordService } from './password/service.ts';
import { registerRoutes } from './register/routes.ts';
import { createRegistration } from './register/service.ts';
import { secondStepRoutes } from './second-step/routes.ts';
import { createSecondStep } from './second-step/service.ts';
import { sessionRoutes } from './session/routes.ts';
import { createSessionService } from './session/service.ts';
import { settingsRoutes } from './settings/routes.ts';
import { createSettings } from './settings/service.ts';
import { wireProviders, type ProviderDeps } from './providers.ts';

/** Wires the slices about people: who they are, how they prove it, what they may. */
export function wireIdentity(server: Server, deps: ProviderDeps): { close: () => Promise<void> } {
  const { accounts, settings, secrets, counters, db, clock, url, mail } = deps;
  const baseUrl = settings.BASE_URL ?? url;
  const bots = createBots({ key: settings.BOT_CHALLENGE_KEY, counters, clock });
  const attempts = createAttempts(counters);
  const guessing = {
    attempts,
    guesses: createGuesses({ db, clock }),
    devices: createKnownDevices({ sessionSecret: secrets.sessionSecret, clock, secure: baseUrl.startsWith('https:') }),
  };
  const invites = createInvites({ db, accounts, mail, clock, walletKey: secrets.walletKey, baseUrl });

  const joining = createJoining({ ...deps, baseUrl });

  joiningRoutes(server, joining);
  registerRoutes(server, createRegistration({ db, accounts, invites, joining, bots, mail, baseUrl }));
  sessionRoutes(
    server,
    createSessionService({
      db,
      accounts,
      ...guessing,
      failedSignIns: createFailedSignIns({ db, counters, audit: accounts.audit }),
      clock,
      sessionSecret: secrets.sessionSecret,
    }),
    bots,
  );
  wireSecondStep(server, { ...deps, attempts, baseUrl });
  passwordRoutes(server, createPasswordService({ db, accounts, ...guessing, bots, mail, baseUrl }));
  settingsRoutes(server, createSettings({ db, accounts, mail, clock, agentsDomain: settings.AGENTS_DOMAIN }));
  const keys = createKeys({ db, accounts, clock });
  keyRoutes(server, keys);
  inviteRoutes(server, invites);
  accessRoutes(
    server,
    createAccess({ db, accounts, mail, clock, baseUrl, sold: settings.BILLING_SECRET_KEY !== undefined }),
  );
  accountRoutes(server, createAccount({ ...deps, baseUrl }));
  adminRoutes(server, createAdmin({ db, accounts }));
  auditRoutes(server, createAuditService(db));
  wireAuthorization(server, { ...deps, keys });
  return wireProviders(server, { ...deps, joining });
}

/** What people have beside a password. */
function wireSecondStep(server: Server, deps: ProviderDeps & { attempts: Attempts; baseUrl: string }): void {
  const { accounts, baseUrl } = deps;
  const proofs = createProofs({ ...deps, party: partyOf(baseUrl, server.loopback) });
  const tell = createFactorMails(deps);
  const failedSignIns = createFailedSignIns({ ...deps, audit: accounts.audit });
  secondStepRoutes(server, createSecondStep({ ...deps, proofs, tell, failedSignIns }));
  factorRoutes(server, createFactors({ ...deps, proofs, tell }));
}

/** Programs that ask for access: what describes them is anywhere on the internet, and nowhere nearer. */
function wireAuthorization(server: Server, deps: ProviderDeps & { keys: Keys }): void {
  const { settings, backendUrl } = deps;
  const outbound = createOutbound();
  server.app.addHook('onClose', () => outbound.close());
  const places = { backendUrl, agentsDomain: settings.AGENTS_DOMAIN };
  authorizationRoutes(server, createAuthorization({ ...deps, outbound, places }));
}
