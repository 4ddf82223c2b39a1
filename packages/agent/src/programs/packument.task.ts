import semver from 'semver';

/** Reads what a registry says of a package, and finds the version that is meant. It may say anything, and a lot. */

/** A version of a package, as far as it is needed. */
export interface Manifest {
  name: string;
  version: string;
  tarball: string;
  /** In the form `sha512-…`; of old packages `sha1-…`. */
  integrity: string;
  bin: Record<string, string>;
  needs: Record<string, string>;
  /** Done without where they cannot be had. */
  optional: Record<string, string>;
  /** Why it does not run on this machine; undefined: it does. */
  foreign?: string;
}

interface Asked {
  text: string;
  name: string;
  range: string;
  platform: string;
  arch: string;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

function textsOf(value: unknown, most = 1000): Record<string, string> {
  const entries = Object.entries(fieldsOf(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= 500,
  );
  if (entries.length > most) throw new Error(`a package names more than ${most} others`);
  return Object.fromEntries(entries);
}

const textList = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).filter((one) => typeof one === 'string');

/** `["linux", "!win32"]`. */
function isFor(list: readonly string[], here: string): boolean {
  const wanted = list.filter((one) => !one.startsWith('!'));
  return !list.includes(`!${here}`) && (wanted.length === 0 || wanted.includes(here) || wanted.includes('any'));
}

function foreignOf({ os, cpu, libc }: Fields, { platform, arch }: Asked): string | undefined {
  if (!isFor(textList(os), platform)) return `it is for ${textList(os).join(', ')}`;
  if (!isFor(textList(cpu), arch)) return `it is for ${textList(cpu).join(', ')}`;
  return isFor(textList(libc), 'glibc') ? undefined : `it is for ${textList(libc).join(', ')}`;
}

function versionFor(versions: Fields, tags: Record<string, string>, range: string): string | undefined {
  const tagged = Object.hasOwn(tags, range) ? tags[range] : undefined;
  if (tagged !== undefined) return tagged;
  if (semver.validRange(range, { loose: true }) === null) return undefined;
  const latest = tags['latest'];
  // As npm does: what its makers call the latest goes before what is only newer.
  if (latest !== undefined && Object.hasOwn(versions, latest) && semver.satisfies(latest, range, { loose: true }))
    return latest;
  const fitting = Object.keys(versions).filter(
    (one) => semver.valid(one, { loose: true }) !== null && semver.satisfies(one, range, { loose: true }),
  );
  const old = (one: string): number => (fieldsOf(versions[one])['deprecated'] ? 1 : 0);
  return fitting.toSorted((a, b) => old(a) - old(b) || semver.rcompare(a, b, { loose: true }))[0];
}

function integrityOf(dist: Fields): string | undefined {
  if (typeof dist['integrity'] === 'string' && dist['integrity'].length <= 1000) return dist['integrity'];
  const { shasum } = dist;
  return typeof shasum === 'string' && /^[0-9a-f]{40}$/.test(shasum)
    ? `sha1-${Buffer.from(shasum, 'hex').toString('base64')}`
    : undefined;
}

function binOf(value: unknown, name: string): Record<string, string> {
  return typeof value === 'string' ? { [name.replace(/^@[^/]+\//, '')]: value } : textsOf(value);
}

/** Undefined: there is no such version. */
export function run(asked: Asked): Manifest | undefined {
  const packument = fieldsOf(JSON.parse(asked.text));
  const versions = fieldsOf(packument['versions']);
  const version = versionFor(versions, textsOf(packument['dist-tags']), asked.range);
  const found = version !== undefined && Object.hasOwn(versions, version) ? versions[version] : undefined;
  if (!isFields(found) || version === undefined) return undefined;
  const dist = fieldsOf(found['dist']);
  const integrity = integrityOf(dist);
  const tarball = dist['tarball'];
  if (integrity === undefined || typeof tarball !== 'string' || !/^https?:\/\//.test(tarball) || tarball.length > 2000)
    throw new Error(`the registry does not say what ${asked.name} ${version.slice(0, 50)} is made of`);
  const brought = new Set(textList(found['bundleDependencies'] ?? found['bundledDependencies']));
  const optional = textsOf(found['optionalDependencies']);
  const meta = fieldsOf(found['peerDependenciesMeta']);
  const peers = Object.entries(textsOf(found['peerDependencies'])).filter(
    ([name]) => fieldsOf(meta[name])['optional'] !== true,
  );
  const without = (list: readonly (readonly [string, string])[]) =>
    Object.fromEntries(list.filter(([name]) => !brought.has(name)));
  const own = textsOf(found['dependencies']);
  // What it brings itself comes first: who shares a package with it finds that one.
  const needs = [...Object.entries(own), ...peers.filter(([name]) => !Object.hasOwn(own, name))].filter(
    ([name]) => !Object.hasOwn(optional, name),
  );
  const foreign = foreignOf(found, asked);
  return {
    name: asked.name,
    version,
    tarball,
    integrity,
    bin: binOf(found['bin'], asked.name),
    needs: without(needs),
    optional: without(Object.entries(optional)),
    ...(foreign !== undefined && { foreign }),
  };
}
