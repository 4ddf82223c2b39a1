import type { Accounts } from '@troupe/accounts';
import type { Server } from '@troupe/kernel';
import { keyRoutes } from './keys/routes.ts';
import { createKeyService } from './keys/service.ts';

/** Wires what the backend says about people; their rows are web's to change. */
export function wireIdentity(server: Server, accounts: Accounts): void {
  keyRoutes(server, createKeyService(accounts));
}
