import semver from 'semver';
import type { Manifest } from './packument.task.ts';
import type { Pinned } from './pin.ts';
import { readSpec } from './wanted.ts';

/**
 * Which packages a program needs, and where each of them lies: as high as nothing else of its name is, else below the one
 * that needs it, so that Node finds for each the version that it asked for.
 */

/** The version of a package that is meant; undefined: there is none. */
export type Find = (name: string, range: string) => Promise<Manifest | undefined>;

/** A place in the tree. */
interface Node {
  at: string;
  manifest: Manifest;
  parent: Node | undefined;
  below: Map<string, Node>;
}

interface Need {
  by: Node;
  /** Under which it is found. */
  as: string;
  name: string;
  range: string;
  isOptional: boolean;
}

const MOST_PACKAGES = 1000;

/** `npm:other@^1`: another package under this name. */
function meant(as: string, given: string): { name: string; range: string } {
  const read = readSpec(given.startsWith('npm:') ? given.slice(4) : `${as}@${given === '' ? '*' : given}`);
  if (!read)
    throw new Error(`${as} comes from ${given.slice(0, 80)}, which is no package of the registry and cannot be pinned`);
  return read;
}

function needsOf(by: Node): Need[] {
  const { needs, optional } = by.manifest;
  const list = (all: Record<string, string>, isOptional: boolean): Need[] =>
    Object.entries(all).map(([as, given]) => ({ by, as, ...meant(as, given), isOptional }));
  return [...list(needs, false), ...list(optional, true)];
}

/** What Node would find from there. */
function nearest(from: Node, name: string): Node | undefined {
  for (let at: Node | undefined = from; at; at = at.parent) {
    const found = at.below.get(name);
    if (found) return found;
  }
  return undefined;
}

/** What is found there already will do. */
function isThere({ by, as, name, range }: Need): boolean {
  const known = nearest(by, as)?.manifest;
  return known?.name === name && semver.satisfies(known.version, range, { loose: true });
}

function place(root: Node, { by, as }: Need, manifest: Manifest): Node {
  const parent = nearest(by, as) ? by : root;
  const at = parent === root ? `node_modules/${as}` : `${parent.at}/node_modules/${as}`;
  const node: Node = { at, manifest, parent, below: new Map() };
  parent.below.set(as, node);
  return node;
}

/** Undefined: it can be done without. Throws a sentence where it cannot. */
async function found(find: Find, { name, range, isOptional, by }: Need): Promise<Manifest | undefined> {
  const manifest = await find(name, range);
  const whose = by.parent ? ` for ${by.manifest.name}` : '';
  const problem = manifest ? manifest.foreign : `the registry has no version ${range} of it`;
  if (problem === undefined) return manifest;
  if (isOptional) return undefined;
  throw new Error(`${name} cannot be had${whose}: ${problem}`);
}

export async function resolveTree(
  find: Find,
  name: string,
  range: string,
): Promise<{ program: Manifest; packages: Pinned[] }> {
  const nobody: Manifest = { name: '', version: '', tarball: '', integrity: '', bin: {}, needs: {}, optional: {} };
  const root: Node = { at: '', manifest: nobody, parent: undefined, below: new Map() };
  const first: Need = { by: root, as: name, name, range, isOptional: false };
  const program = await found(find, first);
  if (!program) throw new Error(`${name} cannot be had`);
  const nodes = [place(root, first, program)];
  for (const node of nodes) {
    const needs = needsOf(node);
    // Asked for at once, taken one after the other: the tree is the same every time.
    const asked = needs.map((need) => (isThere(need) ? Promise.resolve(undefined) : found(find, need)));
    await Promise.allSettled(asked);
    for (const [index, need] of needs.entries()) {
      const manifest = await asked[index];
      if (manifest && !isThere(need)) nodes.push(place(root, need, manifest));
      if (nodes.length > MOST_PACKAGES) throw new Error(`${name} needs more than ${MOST_PACKAGES} packages`);
    }
  }
  const packages = nodes.map(({ at, manifest: { name: of, version, integrity, tarball } }) => ({
    at,
    name: of,
    version,
    integrity,
    tarball,
  }));
  return { program, packages };
}
