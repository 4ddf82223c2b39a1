import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { PasswordService } from './service.ts';

export function passwordRoutes(server: Server, passwords: PasswordService): void {
  serve(server, web.password.forgot, async ({ body }) => {
    await passwords.forgot(body);
    return { message: 'If an account exists, a reset link has been sent' };
  });
  serve(server, web.password.reset, async ({ body, request }) => {
    const device = await passwords.reset(body.token, body.password, request.address);
    return respond({ body: { message: 'Password reset successfully' }, cookies: [device] });
  });
  serve(server, web.settings.changePassword, async ({ user, body, request }) => {
    const device = await passwords.change(user, body, request.address);
    return respond({ body: { success: true }, cookies: [device] });
  });
}
