import { readFileSync } from 'node:fs';

const read = (name: string): string => readFileSync(new URL(`scripts/${name}.sh`, import.meta.url), 'utf8');

/**
 * A shell script, whole as it goes through a pipe into a shell, with the backend's address filled in; quoted so that the
 * address can be nothing but an address.
 */
export function readScript(name: 'install' | 'link', backendUrl: string): string {
  const common = read('common').replace(/^(#.*\n)+\n/, '');
  return read(name)
    .replace('. ./common.sh\n', () => common)
    .replaceAll('@BACKEND_URL@', encodeURI(backendUrl).replaceAll("'", '%27'));
}
