import type { Endpoint } from '@troupe/contract';
import { AppError, serve, type Server } from '@troupe/kernel';

/** An endpoint that has been replaced says by what. */
export function serveGone(server: Server, endpoint: Endpoint, replacement: string): void {
  serve(server, endpoint, () => {
    throw new AppError(410, `This endpoint is gone. Use POST ${replacement}.`, { replacement });
  });
}
