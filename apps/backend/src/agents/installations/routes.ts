import { backend } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { RuntimeProgram } from './program.ts';
import { readScript } from './scripts.ts';
import type { InstallationsService } from './service.ts';

const text = (body: string) => respond({ headers: { 'content-type': 'text/plain; charset=utf-8' }, body });

export function installationRoutes(server: Server, installations: InstallationsService, program: RuntimeProgram): void {
  serve(server, backend.installations.registerHome, ({ user, body }) =>
    installations.register(user, body.userId, body.mode, body.gatewayToken),
  );
  serve(server, backend.installations.registerLink, ({ user, body }) =>
    installations.register(user, body.userId, 'link', body.gatewayToken),
  );
  serve(server, backend.installations.list, ({ user }) => installations.list(user));
  serve(server, backend.installations.sendHeartbeat, ({ user, body }) => installations.heartbeat(user, body.userId));
  serve(server, backend.installations.getInstallScript, () => text(readScript('install', server.url)));
  serve(server, backend.installations.getLinkScript, () => text(readScript('link', server.url)));
  serve(server, backend.installations.getProgram, async () =>
    respond({ headers: { 'content-type': 'text/javascript; charset=utf-8' }, body: await program() }),
  );
}
