import { AppError, type Server, type User } from '@troupe/kernel';

/** Owns what belongs to no account: the configuration and devices of the installation itself. */
const INSTALLATION = 'installation';

/** Whose things a request is about. Without a session they are the installation's own, and only under the loopback rule. */
export function ownerOf(user: User | null, { loopback }: Pick<Server, 'loopback'>): string {
  if (user) return user.id;
  if (loopback) return INSTALLATION;
  throw new AppError(401, 'Unauthorized');
}
