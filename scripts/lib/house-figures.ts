import type { Source } from '@troupe/testing/sources/sources';
import { slicesAreTested, withoutComments } from '../../tests/lib/architecture.ts';
import { LONG_FUNCTIONS } from '../../tests/lib/long-functions.ts';
import { arrowsBetween, isShipped } from './drawings.ts';

/** The figures of docs/architecture.md, counted in the code itself. */

/** A query that sees everybody's rows. */
const AS_SYSTEM = /\bdb\.system\b|\basSystem\(/;
const AS_USER = /\bdb\.user\(|\basUser\(/;

/** Why a place is not as a user, by where it stands. The first that fits counts. */
const KINDS: readonly [kind: string, where: RegExp, why: string][] = [
  [
    'who is it?',
    /^apps\/web\/src\/(?:identity|agents\/(?:devices|shares|triggers|widgets))\/|^packages\/accounts\/|\/agent-keys/,
    'sessions, keys, invites, links, devices, resets, shared conversations, deliveries and visitors are looked up before anybody is known, or about somebody else',
  ],
  [
    'money',
    /^apps\/web\/src\/money\/|^packages\/(?:chain|ledger)\//,
    'ledger, settlements and payouts have two sides; jobs finish what a request began',
  ],
  ['between agents', /^apps\/backend\/src\/underground\//, 'a message or a deal has rows of two users'],
  [
    'running agents',
    /^packages\/(?:agent|channels|fleet|roster)\/|^apps\/backend\/src\/agents\/runtime\/|^apps\/web\/src\/agents\/(?:instance|provision)\//,
    'drivers, leases, backups and recovery take up whatever is due, whoever owns it',
  ],
  [
    'the backend’s own work',
    /^apps\/backend\/src\/(?:agents|platform)\//,
    'the scheduler, trials, installations, teams, figures, and callers with the internal key alone',
  ],
  ['metering', /^packages\/usage\//, 'usage is written in batches of many users'],
  [
    'mail and news',
    /^apps\/web\/src\/(?:platform|agents\/live)\//,
    'mails, notices, pushes and webhooks are sent by jobs, about whoever they belong to',
  ],
  ['the operator’s', /^apps\/web\/src\/agents\/providers\//, 'providers of models belong to the platform'],
  ['the database itself', /^packages\/db\//, 'jobs, files kept by their hash and who runs on it'],
];

const linesOf = (sources: readonly Source[], sign: RegExp): string[] =>
  sources.filter(isShipped).flatMap(({ path, text }) =>
    withoutComments(text)
      .split('\n')
      .filter((line) => sign.test(line))
      .map(() => path),
  );
const kindOf = (path: string): string | undefined => KINDS.find(([, where]) => where.test(path))?.[0];

/** Places that see everybody's rows and are of no kind. */
export const unexplained = (sources: readonly Source[]): string[] =>
  linesOf(sources, AS_SYSTEM).filter((path) => kindOf(path) === undefined);

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

function systemTable(sources: readonly Source[]): string {
  const places = linesOf(sources, AS_SYSTEM).map(kindOf);
  const rows = KINDS.map(([kind, , why]) => row(kind, places.filter((one) => one === kind).length, why));
  return [row('Kind', 'Places', 'Why not as a user'), '|---|---|---|', ...rows].join('\n');
}

/** Below a folder: the folders in it, and, where they are asked for, the files beside them. */
function rooms(sources: readonly Source[], folder: string, which = /^[^/]+/): string {
  const roomOf = (place: string) =>
    place.startsWith(`${folder}/`) ? which.exec(place.slice(folder.length + 1))?.[0] : undefined;
  const arrows = arrowsBetween(sources, roomOf);
  const count = [...arrows.values()].reduce((sum, targets) => sum + targets.size, 0);
  return `${arrows.size} rooms, ${count} arrows`;
}
const FOLDERS = /^[^/]+(?=\/)/;

const long = Object.values(LONG_FUNCTIONS).reduce((sum, { functions }) => sum + Object.keys(functions).length, 0);

const BEFORE = { web: '66 rooms, 120 arrows', agent: '44 rooms, 145 arrows' };

/** Before: as it was when it was put in order, counted in the same way. */
function beforeTable(sources: readonly Source[]): string {
  const ofPages = sources.filter(({ path }) => /^apps\/dashboard\/src\/.*\.test\.tsx?$/.test(path));
  const both = (system: number, users: number): string => `${system} and ${users}`;
  const now = both(linesOf(sources, AS_SYSTEM).length, linesOf(sources, AS_USER).length);
  return [
    row('', 'Before', 'Now'),
    '|---|---|---|',
    row('apps/web/src', `${BEFORE.web}, one upwards`, `${rooms(sources, 'apps/web/src')}, none upwards`),
    row('packages/agent/src', BEFORE.agent, rooms(sources, 'packages/agent/src')),
    row('its wings alone', 'none', rooms(sources, 'packages/agent/src', FOLDERS)),
    row('functions of more than 60 lines', 124, long),
    row('slices without a test beside them', 43, slicesAreTested(sources).length),
    row('files of the dashboard’s own unit tests', 0, ofPages.length),
    row('places that see everybody’s rows, and those of one user', both(165, 76), now),
  ].join('\n');
}

const mark = (name: string): RegExp => new RegExp(`(<!-- table: ${name} -->\n)[\\s\\S]*?(\n<!-- end -->)`);

/** The page with its tables as the code is now. */
export const withFigures = (page: string, sources: readonly Source[]): string =>
  page
    .replace(mark('before'), (_all, start: string, end: string) => start + beforeTable(sources) + end)
    .replace(mark('system'), (_all, start: string, end: string) => start + systemTable(sources) + end);
