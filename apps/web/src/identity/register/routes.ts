import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Registration } from './service.ts';

export function registerRoutes(server: Server, registration: Registration): void {
  serve(server, web.register.create, ({ body, request }) => registration.register(body, request.address));
  serve(server, web.register.verifyEmail, async ({ user, body, request }) => {
    await registration.verify(body, user, request.address);
    return { success: true as const };
  });
  serve(server, web.register.resendVerification, async ({ body }) => {
    await registration.resend(body.email);
    return { message: 'If an account exists, a verification link has been sent' };
  });
}
