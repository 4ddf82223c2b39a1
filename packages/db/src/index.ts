export { createBlobs, keepsBlobs, keepSwept, openBlobs, type Blobs } from './blobs/blobs.ts';
export { CHUNK_BYTES, hashOf, toChunk, type Chunk } from './blobs/chunks.ts';
export {
  digestOf,
  replaceWorkspace,
  TreeFull,
  type BlobEntry,
  type BlobFence,
  type BlobNews,
  type BlobTree,
} from './blobs/trees.ts';
export { findBinaries } from './binaries.ts';
export { isNewCluster } from './cluster.ts';
export { compiled } from './compiled.ts';
export { dumpDatabase, dumpedRows, loadDatabase, type LoadOptions } from './dump.ts';
export { isDuplicate, isOrphan, isRefused } from './errors.ts';
export { startEmbedded, type Embedded, type EmbeddedOptions } from './embedded.ts';
export {
  createJobs,
  installJobs,
  type JobContext,
  type JobHandler,
  type Jobs,
  type JobsOptions,
  type SendOptions,
  type WorkOptions,
} from './jobs.ts';
export { lookWhenTold } from './looking.ts';
export { migrate, type MigrateOptions } from './migrate.ts';
export { createListener, notify, type Listener, type LineWatch } from './notifications.ts';
export { serverOwner } from './owner.ts';
export { reachEmbedded } from './reach.ts';
export { dataDirOf, openRuntime, type Runtime } from './runtime.ts';
export {
  createDatabase,
  isSingle,
  type Database,
  type DatabaseOptions,
  type PoolStats,
  type SystemTx,
  type TxOptions,
  type UserTx,
} from './scopes.ts';
export type { Tables } from './tables.gen.ts';
export { withoutWaiting } from './without-waiting.ts';
export { checkUpgrade, type UpgradeCheck } from './upgrade-check.ts';
