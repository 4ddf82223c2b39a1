import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { Templates } from './template.ts';

/** deploy/chart, rendered as `helm template` and `helm install` render it. */

const CHART = path.resolve(import.meta.dirname, '../../../../deploy/chart');

type Fields = Record<string, unknown>;

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  // oxlint-disable-next-line typescript/no-explicit-any -- objects of every kind, as a cluster takes them
  [field: string]: any;
}

export interface Release {
  name?: string;
  namespace?: string;
  /** What the cluster serves (`kubectl api-versions`); unless said, what today's do. */
  apiVersions?: readonly string[];
}

export const exampleValues = (): string[] => globSync('examples/*.yaml', { cwd: CHART }).sort();

// as Kubernetes reads YAML, where yes and on are true
const readYaml = (file: string): Fields =>
  parse(readFileSync(path.join(CHART, file), 'utf8'), { version: '1.1' }) as Fields;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects are merged, null takes a key away, anything else replaces. */
function merged(below: Fields, over: Fields): Fields {
  const made = { ...below };
  for (const [key, value] of Object.entries(over)) {
    const before = made[key];
    if (value === null) delete made[key];
    else made[key] = isFields(before) && isFields(value) ? merged(before, value) : value;
  }
  return made;
}

const valuesOf = (given: readonly (string | Fields)[]): Fields =>
  given.map((one) => (typeof one === 'string' ? readYaml(one) : one)).reduce<Fields>(merged, readYaml('values.yaml'));

const upperFirst = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);

/** The chart's objects with values on top of its own: files of the chart, or objects. */
export function renderChart(
  given: readonly (string | Fields)[],
  { name = 'troupe', namespace = 'troupe', apiVersions = ['v1', 'apps/v1', 'policy/v1'] }: Release = {},
): KubeObject[] {
  const chart = Object.fromEntries(
    Object.entries(readYaml('Chart.yaml')).map(([key, value]) => [upperFirst(key), value]),
  );
  const has = (version: unknown): boolean => apiVersions.includes(String(version));
  const dot = {
    Values: valuesOf(given),
    Chart: chart,
    Release: { Name: name, Namespace: namespace, Service: 'Helm' },
    Capabilities: { APIVersions: { Has: has } },
  };
  const templates = new Templates();
  const files = globSync('templates/*.{tpl,yaml,txt}', { cwd: CHART }).sort();
  const rendered = files.map((file) => {
    const render = templates.add(readFileSync(path.join(CHART, file), 'utf8'));
    return { file, render };
  });
  return rendered
    .filter(({ file }) => !path.basename(file).startsWith('_'))
    .map(({ file, render }) => ({ file, text: render(dot) }))
    .filter(({ file }) => file.endsWith('.yaml'))
    .flatMap(({ file, text }) => objectsIn(file, text));
}

function objectsIn(file: string, text: string): KubeObject[] {
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
    if (document.errors[0]) throw new Error(`${file}: ${document.errors[0].message}\n${text}`);
    const object = document.toJS() as KubeObject | null;
    return object === null ? [] : [object];
  });
}

/** What runs at a moment of its own instead of lying there. */
export const hookOf = (object: KubeObject): string[] => object.metadata.annotations?.['helm.sh/hook']?.split(',') ?? [];
