import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { BACKUP_MAX_BYTES } from '@troupe/domain';
import { AppError } from '@troupe/kernel';

/** Packs an archive into the file of a backup, if it is not too large for one. */
export async function pack(
  source: AsyncIterable<Buffer> | NodeJS.ReadableStream,
  file: string,
  maxBytes = BACKUP_MAX_BYTES,
): Promise<void> {
  let total = 0;
  const bounded = new Transform({
    transform(piece: Buffer, _, done) {
      total += piece.length;
      done(total > maxBytes ? new AppError(409, 'The agent’s data is too large to back up') : null, piece);
    },
  });
  await pipeline(source, bounded, createGzip({ level: 1 }), createWriteStream(file, { mode: 0o600, flush: true }));
}
