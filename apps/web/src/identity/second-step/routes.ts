import { STEP_COOKIE } from '@troupe/accounts';
import { web } from '@troupe/contract';
import { respond, serve, type RequestInfo, type Server } from '@troupe/kernel';
import { originOf } from '../origin.ts';
import type { SecondStep } from './service.ts';

const tokenOf = (request: RequestInfo): string | undefined => request.cookies()[STEP_COOKIE];
const NO_STORE = { 'cache-control': 'no-store' };

export function secondStepRoutes(server: Server, steps: SecondStep): void {
  serve(server, web.secondStep.get, async ({ request }) =>
    respond({ headers: NO_STORE, body: await steps.owed(tokenOf(request)) }),
  );
  serve(server, web.secondStep.askPasskey, async ({ request }) => steps.options(tokenOf(request)));
  serve(server, web.secondStep.pass, async ({ body, request }) => {
    const { user, cookies } = await steps.pass(tokenOf(request), body, originOf(request));
    return respond({ body: { ok: true, user }, cookies });
  });
  serve(server, web.secondStep.startPasskey, () => steps.passkeyOptions());
  serve(server, web.secondStep.signIn, async ({ body, request }) => {
    const { user, cookies } = await steps.signInWithPasskey(body.passkey, originOf(request));
    return respond({ body: { ok: true, user }, cookies });
  });
  serve(server, web.secondStep.confirmPasskey, ({ user }) => steps.confirmOptions(user));
  serve(server, web.secondStep.confirm, async ({ user, body }) => ({
    success: true as const,
    until: await steps.confirm(user, body),
  }));
}
