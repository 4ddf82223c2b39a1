import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { PasswordService } from './service.ts';

export function passwordRoutes(server: Server, passwords: PasswordService): void {
  serve(server, web.password.forgot, async ({ body }) => {
    await passwords.forgot(body);
    return { message: 'If an account exists, a reset link has been sent' };
  });
  serve(server, web.password.reset, async ({ body, request }) => {
    await passwords.reset(body.token, body.password, request.address);
    return { message: 'Password reset successfully' };
  });
  serve(server, web.settings.changePassword, async ({ user, body, request }) => {
    await passwords.change(user, body, request.address);
    return { success: true as const };
  });
}
