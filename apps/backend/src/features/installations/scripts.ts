import { readFileSync } from 'node:fs';

/** A shell script with the backend's address filled in; quoted so that the address can be nothing but an address. */
export function readScript(name: 'install' | 'link', backendUrl: string): string {
  const text = readFileSync(new URL(`scripts/${name}.sh`, import.meta.url), 'utf8');
  return text.replaceAll('@BACKEND_URL@', encodeURI(backendUrl).replaceAll("'", '%27'));
}
