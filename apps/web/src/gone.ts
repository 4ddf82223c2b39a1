import type { Endpoint } from '@troupe/contract';
import { AppError, serve, type Server } from '@troupe/kernel';

/** An endpoint that has been replaced says by what, however it is called. */
export function serveGone(server: Server, endpoint: Endpoint, replacement: string): void {
  for (const method of ['GET', 'POST'] as const)
    serve(server, { ...endpoint, method }, () => {
      throw new AppError(410, `This endpoint is gone. Use POST ${replacement}.`, { replacement });
    });
}
