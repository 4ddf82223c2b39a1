import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Removes a folder with all that is in it, if it is there, by the system's program: Node's own way gives up on folders
 * that are deeper than a path can say, and is busy on the loop for seconds with a hundred thousand files.
 */
export async function removeTree(folder: string): Promise<void> {
  // The jail names folders by what this process has open; for the program, `self` is another.
  await run('rm', ['-rf', '--', folder.replace(/^\/proc\/self\//, `/proc/${process.pid}/`)]);
}
