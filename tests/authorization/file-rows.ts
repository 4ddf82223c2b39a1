import type { Tables } from '@troupe/db';
import { newId, sha256Hex } from '@troupe/kernel';
import type { Insertable } from 'kysely';
import type { Marks } from './marks.ts';

/** A file of the agent's, as the blob store keeps it. */
export async function addFiles(
  add: <T extends keyof Tables>(table: T, values: Insertable<Tables[T]>) => Promise<unknown>,
  { user_id, agent_id }: { user_id: string; agent_id: string },
  mark: Marks['mark'],
): Promise<void> {
  const bytes = Buffer.from(mark('fileText'));
  const chunk = { user_id, hash: Buffer.from(sha256Hex(mark('fileText')), 'hex') };
  const file = { user_id, tree_id: newId(), path: mark('filePath') };
  await add('blob_chunks', { ...chunk, size: bytes.length, bytes, packed: false });
  await add('blob_objects', { user_id, object: mark('object') });
  await add('blob_trees', { id: file.tree_id, user_id, agent_id, name: 'restoring' });
  await add('blob_files', { ...file, kind: 'file', mode: 0o600, size: BigInt(bytes.length), version: 1 });
  await add('blob_parts', { ...file, ...chunk, number: 0 });
}
