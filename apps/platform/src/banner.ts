import { VERSION } from '@troupe/kernel';
import type { Addresses } from './platform.ts';

/** What a newcomer has to know, in one block. */
export function banner({ web, backend, summarizer, dataDir, owner }: Addresses, seconds: number): string {
  const lines = [
    '',
    `Troupe ${VERSION} is ready (${seconds.toFixed(1)} s)`,
    '',
    `  Dashboard      ${web}`,
    `  API reference  ${web}/docs`,
    `  Web API        ${web}/api`,
    `  Backend API    ${backend}`,
    `  Summarizer     ${summarizer}`,
    `  Data folder    ${dataDir}`,
    '',
  ];
  const account = owner && [
    `  Sign in at ${web}/login. This password is shown only now:`,
    '',
    `  E-mail         ${owner.email}`,
    `  Password       ${owner.password}`,
    '',
  ];
  return [...lines, ...(account ?? []), '  Ctrl-C stops everything.', ''].join('\n');
}
