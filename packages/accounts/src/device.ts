/** Order matters: most browsers also claim to be the ones below them. */
const BROWSERS: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const match = (table: [RegExp, string][], text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/** What a person recognises in a list of sessions. */
export function deviceOf(userAgent: string | undefined): string {
  // The header may hold any byte; the database takes no null.
  const text = (userAgent ?? '').replace(/\p{Cc}/gu, '').slice(0, 512);
  const browser = match(BROWSERS, text);
  const system = match(SYSTEMS, text);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? (text.slice(0, 60) || 'Unknown device');
}
