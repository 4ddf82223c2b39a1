import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { LedgerService } from './service.ts';

export function ledgerRoutes(server: Server, ledger: LedgerService): void {
  serve(server, web.ledger.get, ({ user, query, request }) =>
    ledger.of({ user, method: 'GET', request }, query.address, query.limit),
  );
}
