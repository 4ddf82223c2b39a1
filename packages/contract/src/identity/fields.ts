import { z } from 'zod';

/** What the endpoints about people have in common. */
export const identity = { service: 'web', tag: 'Identity' } as const;

export const ACCESS_DENIED = 'Access denied';
export const TOO_MANY = 'Too many requests';

/** What a person never fills in, and what a browser solved. */
export const botFields = {
  website: z.unknown().optional().describe('Left empty by people'),
  altcha: z.string().optional().describe('The solved challenge, where one is asked for'),
};

export const message = z.object({ message: z.string() });
