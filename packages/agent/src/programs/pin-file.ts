import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomHex } from '@troupe/kernel';
import { z } from 'zod';
import { pinSchema, type Pin } from './pin.ts';

/** Pins of an agent that runs as a program of its own: a file beside its database. */

const fileSchema = z.record(z.string(), pinSchema);

export function createPinFile(file: string) {
  async function read(): Promise<Record<string, Pin>> {
    try {
      return fileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
  }
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: each writes all of it. */
  function change(how: (pins: Record<string, Pin>) => Record<string, Pin>): Promise<void> {
    const done = last.then(async () => {
      const part = `${file}.${randomHex(8)}`;
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(part, JSON.stringify(how(await read())), { mode: 0o600 });
      await rename(part, file);
    });
    last = done.catch(() => undefined);
    return done;
  }
  const all = async (): Promise<Pin[]> => Object.values(await read());
  return {
    load: async (server: string): Promise<Pin | undefined> => (await read())[server],
    save: (server: string, pin: Pin, { first }: { first: boolean }): Promise<void> =>
      change((pins) => (first && pins[server]?.spec === pin.spec ? pins : { ...pins, [server]: pin })),
    remove: (server: string): Promise<void> => change(({ [server]: _gone, ...pins }) => pins),
    bytes: async (): Promise<number> => (await all()).reduce((sum, { bytes }) => sum + bytes, 0),
    named: async (): Promise<ReadonlySet<string>> => new Set((await all()).map(({ digest }) => digest)),
  };
}
