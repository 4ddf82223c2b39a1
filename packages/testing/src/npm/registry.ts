import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { tar, type TarEntry } from '@troupe/kernel';

/** A registry of npm packages on this machine: descriptions in the short form, archives as `npm pack` makes them. */

export interface Published {
  name: string;
  version: string;
  bin?: string | Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  bundleDependencies?: string[];
  os?: string[];
  cpu?: string[];
  scripts?: Record<string, string>;
}

interface Kept {
  manifest: Published & { dist: Record<string, unknown> };
  archive: Buffer;
}

export async function packed(entries: readonly TarEntry[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of tar(entries)) pieces.push(piece);
  return gzipSync(Buffer.concat(pieces));
}

const FIELDS = [
  'name',
  'version',
  'bin',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bundleDependencies',
  'os',
  'cpu',
] as const;

/** Every file of a folder but those of packages below it. */
async function filesIn(folder: string, below = ''): Promise<TarEntry[]> {
  const found: TarEntry[] = [];
  for (const entry of await readdir(path.join(folder, below), { withFileTypes: true })) {
    const at = path.posix.join(below, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') found.push(...(await filesIn(folder, at)));
    else if (entry.isFile()) {
      const file = path.join(folder, at);
      found.push({ path: `package/${at}`, mode: (await stat(file)).mode & 0o777, content: await readFile(file) });
    }
  }
  return found;
}

/** Where Node finds a package that another one needs; undefined: it is not installed. */
function installedFor(name: string, from: string, root: string): string | undefined {
  for (let at = from; at.startsWith(root); at = path.dirname(at)) {
    const inside = path.join(at, at === root ? '' : 'node_modules', name);
    if (existsSync(path.join(inside, 'package.json'))) return inside;
  }
  return undefined;
}

export async function startRegistry() {
  const packages = new Map<string, Map<string, Kept>>();
  const tags = new Map<string, string>();
  const requests: string[] = [];
  /** Answers that never come. */
  let isSilent = false;
  const server = http.createServer((request, response) => {
    requests.push(decodeURIComponent(request.url ?? ''));
    if (isSilent) return;
    const url = decodeURIComponent(request.url ?? '');
    const [, name = '', version] = /^\/(.+)\/-\/.*-(\d+\.\d+\.\d+[^/]*)\.tgz$/.exec(url) ?? [undefined, url.slice(1)];
    const versions = packages.get(name);
    const one = version === undefined ? undefined : versions?.get(version);
    if (!versions || (version !== undefined && !one)) return void response.writeHead(404).end('{"error":"Not found"}');
    if (one) return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(one.archive);
    const body = {
      name,
      modified: '2026-01-01T00:00:00.000Z',
      'dist-tags': { latest: tags.get(name) ?? [...versions.keys()].at(-1) },
      versions: Object.fromEntries([...versions].map(([key, { manifest }]) => [key, manifest])),
    };
    response.writeHead(200, { 'content-type': 'application/vnd.npm.install-v1+json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** `old`: described by the sum of old registries alone. */
  function put(manifest: Published, archive: Buffer, { old = false } = {}): void {
    const { name, version } = manifest;
    const sum = (kind: string, form: 'hex' | 'base64') => createHash(kind).update(archive).digest(form);
    const dist = {
      tarball: `${url}/${name}/-/${name.replace(/^@[^/]+\//, '')}-${version}.tgz`,
      shasum: sum('sha1', 'hex'),
      ...(!old && { integrity: `sha512-${sum('sha512', 'base64')}` }),
      signatures: [{ keyid: 'SHA256:x', sig: 'y' }],
    };
    const about = Object.fromEntries(FIELDS.flatMap((field) => (manifest[field] ? [[field, manifest[field]]] : [])));
    const kept = { manifest: { ...(about as unknown as Published), dist }, archive };
    const versions = packages.get(name) ?? new Map<string, Kept>();
    packages.set(name, versions.set(version, kept));
  }

  async function publish(manifest: Published, files: Record<string, string>, options: { old?: boolean } = {}) {
    const all = { 'package.json': JSON.stringify(manifest), ...files };
    const entries = Object.entries(all).map(([name, text]) => ({
      path: `package/${name}`,
      mode: 0o644,
      content: Buffer.from(text),
    }));
    put(manifest, await packed(entries), options);
  }

  return {
    url,
    requests,
    publish,
    put,
    tag: (name: string, latest: string) => void tags.set(name, latest),
    /** Other contents for a version that is out; `promised`: it says so, too. */
    async swap(manifest: Published, files: Record<string, string>, { promised }: { promised: boolean }) {
      const before = packages.get(manifest.name)?.get(manifest.version)?.manifest;
      await publish(manifest, files);
      const now = packages.get(manifest.name)?.get(manifest.version);
      if (!promised && before && now) now.manifest = before;
    },
    /** A package of node_modules with all that it needs, as it is installed there. */
    async publishInstalled(name: string, root: string): Promise<number> {
      const seen = new Set<string>();
      const waiting = [path.join(root, name)];
      for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
        if (seen.has(folder)) continue;
        seen.add(folder);
        const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Published;
        put(manifest, await packed(await filesIn(folder)));
        for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
          const at = installedFor(needed, folder, root);
          if (at !== undefined) waiting.push(at);
        }
      }
      return seen.size;
    },
    silent: (now: boolean) => void (isSilent = now),
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
