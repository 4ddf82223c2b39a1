import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { LoginsService } from './service.ts';

export function loginRoutes(server: Server, logins: LoginsService): void {
  serve(server, web.logins.list, ({ user, params }) => logins.list(user.id, params.id));
  serve(server, web.logins.save, ({ user, params, body }) => logins.save(user.id, params, body));
  serve(server, web.logins.remove, ({ user, params }) => logins.remove(user.id, params.id, params.name));
}
