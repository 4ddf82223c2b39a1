import { backend as onBackend } from '@troupe/contract';
import type { Roster } from '@troupe/roster';
import type { BackendClient, User } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';

export interface BackupsDeps {
  roster: Roster;
  backend: BackendClient;
}

export type BackupsService = ReturnType<typeof createBackups>;

/** Copying a full workspace takes its time. */
const COPY_TIMEOUT_MS = 300_000;

/** Copies of an agent. The backend keeps them; web checks whose agent it is. */
export function createBackups({ roster, backend }: BackupsDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    await roster.of(user.id).get(agentId);
    return backend.as(user, address);
  };
  const timeout = COPY_TIMEOUT_MS;

  return {
    async make(user: User, id: string, address: string) {
      const { call } = await client(user, id, address);
      return reach(call(onBackend.backups.create, { params: { id }, timeout }));
    },
    async list(user: User, id: string, address: string) {
      const { call } = await client(user, id, address);
      return reach(call(onBackend.backups.list, { params: { id } }));
    },
    async restore(user: User, id: string, backupId: string, force: boolean, address: string) {
      const { call } = await client(user, id, address);
      return reach(
        call(onBackend.backups.restore, {
          params: { id, backupId },
          query: { force: force ? 'true' : 'false' },
          timeout,
        }),
      );
    },
    async remove(user: User, id: string, backupId: string, address: string) {
      const { call } = await client(user, id, address);
      return reach(call(onBackend.backups.remove, { params: { id, backupId } }));
    },
    async download(user: User, id: string, backupId: string, address: string, signal: AbortSignal) {
      const { open } = await client(user, id, address);
      return reach(open(onBackend.backups.download, { params: { id, backupId }, timeout, signal }));
    },
  };
}
