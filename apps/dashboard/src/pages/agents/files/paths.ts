import { shortName } from '@troupe/contract';

/** Names and paths in a workspace. */

/** A name that any workspace can have; what it was called stays readable. */
export function safeName(name: string): string {
  const clean = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}/\\:]+/gu, '-')
    .replace(/^\.+/, '');
  return shortName(clean) || 'file';
}

export const inside = (folder: string, name: string): string => (folder === '.' ? name : `${folder}/${name}`);

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const PICTURES = new Set(['png', 'jpg', 'jpeg', 'gif', 'webp']);

/** A kind of picture that is shown. */
export const isPicture = (path: string): boolean => PICTURES.has(endOf(path));

/** What follows the last dot of the name, in small letters. */
export function endOf(path: string): string {
  const name = nameOf(path);
  return name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
}
