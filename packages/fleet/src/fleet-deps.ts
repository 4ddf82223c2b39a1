import type { Blobs, Database } from '@troupe/db';
import type { Clock, Log } from '@troupe/kernel';
import type { AllAgents } from '@troupe/roster';
import type { Driver } from './driver.ts';

export interface FleetDeps {
  db: Database;
  roster: AllAgents;
  driver: Driver;
  clock: Clock;
  log: Log;
  /** Backups are kept in it, unless there are blobs. */
  dataDir: string;
  blobs?: Blobs | undefined;
  version: string;
  leaseMs?: number;
}
