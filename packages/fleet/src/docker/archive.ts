import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tar, type TarEntry } from '@troupe/kernel';
import { agentImage, NODE, PROGRAM } from './image.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** An agent's image in a file, as `docker save` writes one: for engines that the platform cannot give it to itself. */
export async function writeImage(
  file: string,
  { name, program, node }: { name: string; program: string; node: string },
): Promise<void> {
  const layer = `${file}.layer`;
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform(piece: Buffer, _, done) {
      hash.update(piece);
      done(null, piece);
    },
  });
  try {
    await pipeline(await agentImage(program, node), hashed, createWriteStream(layer));
    const { size } = await stat(layer);
    const json = (path: string, value: unknown): TarEntry => ({
      path,
      mode: 0o644,
      content: Buffer.from(JSON.stringify(value)),
    });
    const entries: TarEntry[] = [
      json('manifest.json', [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]),
      json('config.json', {
        os: 'linux',
        architecture: ARCHITECTURES[process.arch] ?? process.arch,
        config: { Cmd: [NODE, PROGRAM] },
        rootfs: { type: 'layers', diff_ids: [`sha256:${hash.digest('hex')}`] },
      }),
      { path: 'layer.tar', mode: 0o644, file: { size, read: () => createReadStream(layer) } },
    ];
    await pipeline(Readable.from(tar(entries), { objectMode: false }), createWriteStream(file));
  } finally {
    await rm(layer, { force: true });
  }
}
