import { StartError } from '../errors.ts';

/** Why a service cannot listen, and what to do about it. */
export function listenError(error: unknown, host: string, port: number, setting: string): Error {
  const code = (error as { code?: string }).code;
  if (code === 'EADDRINUSE')
    return new StartError(
      `Port ${port} on ${host} is in use: stop what listens there, or set ${setting} to a free port.`,
    );
  if (code === 'EACCES')
    return new StartError(`Port ${port} may not be opened by this user: set ${setting} to a port above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(`HOST ${host} is not an address of this machine.`);
  return error as Error;
}
