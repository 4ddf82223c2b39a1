import { sha256Hex } from '@troupe/kernel';
import { z } from 'zod';

/** A program that is an npm package, as it was resolved once: it and all that it needs, each by version and integrity. */

const pinnedSchema = z.object({
  /** Below the folder of the program. */
  at: z.string().regex(/^node_modules\/[^\0]{1,1000}$/),
  name: z.string(),
  version: z.string(),
  integrity: z.string(),
  tarball: z.string(),
});

export const pinSchema = z.object({
  /** What its owner wrote. */
  spec: z.string(),
  name: z.string(),
  version: z.string(),
  integrity: z.string(),
  /** What is run, below the folder of the program. */
  entry: z.string(),
  packages: z.array(pinnedSchema),
  /** Names the folder. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number(),
  at: z.string(),
});

export type Pinned = z.output<typeof pinnedSchema>;
export type Pin = z.output<typeof pinSchema>;

export const digestOfPackages = (packages: readonly Pinned[]): string =>
  sha256Hex(
    JSON.stringify(
      packages
        .map(({ at, name, version, integrity }) => [at, name, version, integrity])
        .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ),
  );

/** A version is what it is for good: the same one with other contents is somebody else's. */
export function changedUnder(before: Pin, after: readonly Pinned[]): Pinned | undefined {
  const known = new Map(before.packages.map((one) => [`${one.name}@${one.version}`, one.integrity]));
  return after.find(({ name, version, integrity }) => {
    const was = known.get(`${name}@${version}`);
    return was !== undefined && was !== integrity;
  });
}

/** It was never pinned: somebody between here and its makers has changed it. */
export const unlikePromised = ({ name, version }: Pick<Pinned, 'name' | 'version'>): Error =>
  new Error(`${name} ${version} is not taken: its contents are others than the registry promises`);

export const otherContents = ({ name, version }: Pick<Pinned, 'name' | 'version'>): Error =>
  new Error(
    `${name} ${version} is not what it was when it was pinned: the registry gives other contents for the same version, which are not taken`,
  );
