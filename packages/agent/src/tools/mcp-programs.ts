import { chmod, open } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@troupe/kernel';
import { NODE, PROGRAM } from '../sandbox/sandbox.ts';
import type { Pin } from '../programs/pin.ts';
import type { ProgramShelf } from '../programs/shelf.ts';
import { runsPackage, wantedBy, type Wanted } from '../programs/wanted.ts';
import type { UsedServer } from './mcp-shared.ts';

/** MCP servers that are npm packages: resolved when they are first used, and from then on what they were resolved to. */

export interface PinStore {
  load: (server: string, shared?: string) => Promise<Pin | undefined>;
  /** `first`: unless somebody has pinned the same words meanwhile. */
  save: (server: string, pin: Pin, how: { first: boolean; shared?: string | undefined }) => Promise<void>;
  remove: (server: string) => Promise<void>;
  /** Of all programs that the owner's servers name. */
  bytes: () => Promise<number>;
}

export interface Installed {
  /** Shown inside, where nobody can change it. */
  folder: string;
  argv: readonly string[];
}

export interface Programs {
  isPackage: (server: UsedServer) => boolean;
  pinned: (server: UsedServer) => Promise<Pin | undefined>;
  ready: (server: UsedServer, signal: AbortSignal) => Promise<Installed>;
  /** What its owner's words mean now. Throws a sentence where a version is not what it was. */
  update: (server: UsedServer, signal: AbortSignal) => Promise<Pin>;
  forget: (server: UsedServer) => Promise<void>;
}

interface ProgramsDeps {
  shelf: ProgramShelf;
  pins: PinStore;
  /** Users take turns. */
  owner: string;
}

/** Of all programs of one owner's servers. */
const MOST_BYTES = 4_000 * 1024 * 1024;

export const isPackageRunner = (server: UsedServer): boolean => runsPackage(server);

/** Scripts of other languages run by themselves. */
async function argvOf(folder: string, { entry }: Pin, { args }: Wanted): Promise<string[]> {
  const inside = path.posix.join(PROGRAM, entry);
  const file = await open(path.join(folder, entry)).catch((cause: unknown) => {
    throw new Error('the package has not got the program that it names', { cause });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(200), 0, 200, 0);
    const head = buffer.toString('latin1', 0, bytesRead);
    const isForNode = !/^#!|^\u007fELF/.test(head) || /^#![^\n]*\b(?:node|bun|tsx)\b/.test(head);
    if (isForNode) return [NODE, inside, ...args];
  } finally {
    await file.close();
  }
  await chmod(path.join(folder, entry), 0o555);
  return [inside, ...args];
}

export function createPrograms({ shelf, pins, owner }: ProgramsDeps): Programs {
  const wanted = (server: UsedServer): Wanted => {
    const found = wantedBy(server);
    if (!found) throw new Error('the server is no npm package');
    return found;
  };
  /** What the words in its definition are pinned to: for other words it counts no more. */
  async function standing(server: UsedServer, { spec }: Pick<Wanted, 'spec'>): Promise<Pin | undefined> {
    const pin = await pins.load(server.name, server.shared);
    return pin?.spec === spec ? pin : undefined;
  }

  async function pinFirst(server: UsedServer, meant: Wanted, signal: AbortSignal): Promise<Pin> {
    if ((await pins.bytes()) >= MOST_BYTES)
      throw new AppError(400, 'your servers have as many programs as they may: remove one of them');
    const fresh = await shelf.resolve(meant, owner, { signal });
    await pins.save(server.name, fresh, { first: true, shared: server.shared });
    return (await standing(server, meant)) ?? fresh;
  }

  return {
    isPackage: isPackageRunner,
    async pinned(server) {
      try {
        const meant = wantedBy(server);
        return meant && (await standing(server, meant));
      } catch {
        // What cannot be understood is told when it is tried.
        return undefined;
      }
    },
    async ready(server, signal) {
      const meant = wanted(server);
      const pin = (await standing(server, meant)) ?? (await pinFirst(server, meant, signal));
      const folder = await shelf.folder(pin, owner, signal);
      return { folder, argv: await argvOf(folder, pin, meant) };
    },
    async update(server, signal) {
      const meant = wanted(server);
      const before = await standing(server, meant);
      const pin = await shelf.resolve(meant, owner, { signal, ...(before && { before }) });
      await pins.save(server.name, pin, { first: false, shared: server.shared });
      return pin;
    },
    forget: ({ name, shared }) => (shared === undefined ? pins.remove(name) : Promise.resolve()),
  };
}
