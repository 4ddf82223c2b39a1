/** Copies of an agent's data: why one was made, and how many of each kind are kept. */

export const BACKUP_REASONS = ['manual', 'update', 'restore'] as const;
export type BackupReason = (typeof BACKUP_REASONS)[number];

/** Made by hand: a further one is refused. Made before an update or a restore: the oldest goes. */
export const BACKUPS_KEPT: Readonly<Record<BackupReason, number>> = { manual: 10, update: 3, restore: 3 };

/** What one may hold before it is packed; sparse files count in full. */
export const BACKUP_MAX_BYTES = 4 * 1024 ** 3;
