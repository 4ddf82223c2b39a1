import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { quoted } from './control-group.ts';

/**
 * Who a command is on this machine. For a platform of an ordinary user: that user. For a platform of root: somebody who
 * has no rights at all, since inside of a user namespace root would still open what root may open.
 */

/** Between the ranges that distributions and systemd give out. */
const SANDBOX_UID = 60_777;

/** Of files that the platform makes in a workspace; undefined: its own. */
export const sandboxOwner = (): number | undefined => (process.getuid?.() === 0 ? SANDBOX_UID : undefined);

export interface SandboxUser {
  /**
   * Shell commands that become that user, and where it finds the given paths. Those in folders that are closed to it
   * are shown to it elsewhere, in a mount namespace of its own.
   */
  become: (paths: readonly string[]) => {
    script: string;
    argv: string[];
    at: (given: string) => string;
    unshare: boolean;
  };
  /** Makes a workspace that user's, if it is not yet; earlier versions, and backups put back, leave it to the platform. */
  claim: (workspace: string) => Promise<void>;
  /** Lets that user use a socket of ours. */
  admit: (socket: string) => void;
}

const run = promisify(execFile);
const SETPRIV = ['/usr/bin/setpriv', `--reuid=${SANDBOX_UID}`, `--regid=${SANDBOX_UID}`, '--clear-groups', '--'];

/** Closed to everybody else, whatever it was made with. */
async function close(workspace: string): Promise<void> {
  const { mode } = await stat(workspace);
  if ((mode & 0o777) !== 0o700) await chmod(workspace, 0o700);
}

export function createSandboxUser(): SandboxUser {
  if (sandboxOwner() === undefined)
    return {
      become: () => ({ script: '', argv: [], at: (given) => given, unshare: false }),
      claim: close,
      admit: () => {},
    };
  let places: string | undefined;

  /** An empty file or folder to mount something on, by the name of its number. */
  function place(index: number, given: string): string {
    places ??= openPlaces();
    const made = path.join(places, String(index) + (statSync(given).isDirectory() ? 'd' : 'f'));
    if (made.endsWith('d')) mkdirSync(made, { recursive: true });
    else writeFileSync(made, '');
    return made;
  }

  return {
    become(paths) {
      const closed = paths.filter((given) => !isOpen(given));
      const shown = new Map(closed.map((given, index) => [given, place(index, given)]));
      return {
        script: [...shown].map(([from, to]) => `mount --bind ${quoted(realpathSync(from))} ${quoted(to)}`).join('\n'),
        argv: SETPRIV,
        at: (given) => shown.get(given) ?? given,
        unshare: shown.size > 0,
      };
    },
    async claim(workspace) {
      await close(workspace);
      if ((await stat(workspace)).uid === SANDBOX_UID) return;
      // Follows no links, and comes to the folder itself last: one that is the user's is so in all its parts.
      await run('/bin/chown', ['-RhP', `${SANDBOX_UID}:${SANDBOX_UID}`, '--', workspace]);
    },
    admit(socket) {
      chmodSync(path.dirname(socket), 0o711);
      chownSync(socket, SANDBOX_UID, SANDBOX_UID);
    },
  };
}

function openPlaces(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'troupe-sandbox-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** Whether everybody may walk to it. */
function isOpen(given: string): boolean {
  for (let at = path.dirname(realpathSync(given)); ; at = path.dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}
