import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** A function that has more than 60 lines, comments, blank lines and the functions within it counted. */
export interface LongFunction {
  file: string;
  /** Empty: it has none. */
  name: string;
  lines: number;
}

interface Diagnostic {
  message: string;
  filename: string;
}

const CONFIG = path.join(import.meta.dirname, 'functions.oxlintrc.json');
const isTest = (file: string): boolean => /\.test\.tsx?$|\/testing[^/]*\.ts$|\/(?:testing|fixtures)\//.test(file);

/** By oxlint, which parses what the other checks parse. It exits with 1 when it finds any. */
function diagnose(root: string, places: readonly string[]): Diagnostic[] {
  const program = path.join(import.meta.dirname, '../../node_modules/.bin/oxlint');
  let output: string;
  try {
    output = execFileSync(program, ['-c', CONFIG, '--format=json', ...places], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout?.trimStart().startsWith('{')) throw error;
    output = stdout;
  }
  return (JSON.parse(output) as { diagnostics: Diagnostic[] }).diagnostics;
}

export const longFunctions = (root: string, places: readonly string[]): LongFunction[] =>
  diagnose(root, places)
    .filter(({ filename }) => !isTest(filename))
    .map(({ message, filename }) => ({
      file: filename.replaceAll('\\', '/'),
      name: /`([^`]+)`/.exec(message)?.[1] ?? '',
      lines: Number(/\((\d+)\)/.exec(message)?.[1]),
    }));

/** What breaks the rule: one that is not listed, one that grew, and one on the list that is no longer long. */
export function complaints(found: readonly LongFunction[], listed: Readonly<Record<string, number>>): string[] {
  const keyed = new Map(found.map((one) => [`${one.file} ${one.name}`, one.lines]));
  const over = [...keyed].flatMap(([key, lines]) => {
    const most = listed[key];
    if (most === undefined) return [`${key} has ${lines} lines, more than 60: split it by what it is about`];
    return lines > most ? [`${key} has grown from ${most} to ${lines} lines: split it`] : [];
  });
  const short = Object.keys(listed).filter((key) => !keyed.has(key));
  return [...over, ...short.map((key) => `${key} is short now: take it off the list`)];
}
