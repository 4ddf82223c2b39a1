import { getConfig, getConfigBackup, restoreConfig, saveConfig } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { ownerOf } from '../../identity/owner.ts';
import type { ConfigService } from './service.ts';

export function configRoutes(server: Server, config: ConfigService): void {
  serve(server, getConfig, ({ user }) => config.read(ownerOf(user, server)));
  serve(server, saveConfig, ({ user, body }) => config.save(ownerOf(user, server), body.config));
  serve(server, restoreConfig, ({ user, body }) => config.restore(ownerOf(user, server), body.backupId));
  serve(server, getConfigBackup, ({ user, params }) => config.backup(ownerOf(user, server), params.id));
}
