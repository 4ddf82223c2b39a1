import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { ownerOf } from '../../identity/owner.ts';
import type { ConfigService } from './service.ts';

export function configRoutes(server: Server, config: ConfigService): void {
  serve(server, web.config.get, ({ user }) => config.read(ownerOf(user, server)));
  serve(server, web.config.save, ({ user, body }) => config.save(ownerOf(user, server), body.config));
  serve(server, web.config.restore, ({ user, body }) => config.restore(ownerOf(user, server), body.backupId));
  serve(server, web.config.getBackup, ({ user, params }) => config.backup(ownerOf(user, server), params.id));
}
