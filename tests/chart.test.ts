import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { settingDocs } from '@troupe/kernel';
import { exampleValues, hookOf, renderChart, type KubeObject } from '@troupe/testing/kubernetes/chart';
import { functionNames, Templates } from '@troupe/testing/kubernetes/template';
import { parseAllDocuments } from 'yaml';
import { closedPaths, publicPaths } from './lib/public-paths.ts';

/** deploy/chart without a cluster; tests/kubernetes has the API server look at it, and runs it. */

const deploy = path.resolve(import.meta.dirname, '../deploy');
const settings = new Map(settingDocs().map((setting) => [setting.name, setting]));
const LEAST = {
  host: 'troupe.example.org',
  image: { repository: 'r/troupe' },
  agents: { image: 'r/agent:1' },
  secrets: { DATABASE_URL: 'd', INTERNAL_API_KEY: 'i', SESSION_SECRET: 's', WALLET_ENCRYPTION_KEY: 'w' },
};
const of = (objects: readonly KubeObject[], kind: string, name = 'troupe'): KubeObject => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
};

describe('the chart', () => {
  test('what an installation has to say, and did not, is told by name', () => {
    const { host: _, ...rest } = LEAST;
    assert.throws(() => renderChart([rest]), /host: the name under which/);
    assert.throws(() => renderChart([{ ...LEAST, agents: {} }]), /agents\.image: what `npm run agent:image` wrote/);
    const { SESSION_SECRET: __, ...secrets } = LEAST.secrets;
    assert.throws(() => renderChart([{ ...LEAST, secrets }]), /secrets\.SESSION_SECRET, or existingSecret/);
    assert.ok(renderChart([LEAST]).length > 14);
  });

  test('settings are those that exist, secrets are in no ConfigMap, and ports are those that services listen on', () => {
    for (const example of exampleValues()) {
      const objects = renderChart([example]);
      const plain = Object.keys(of(objects, 'ConfigMap')['data']);
      assert.deepEqual(
        plain.filter((name) => settings.get(name)?.secret !== false),
        [],
        example,
      );
      const secret = objects.find(({ kind }) => kind === 'Secret');
      for (const name of Object.keys(secret?.['data'] ?? {})) assert.equal(settings.get(name)?.secret, true, name);
      for (const service of ['web', 'backend', 'summarizer'])
        assert.equal(
          `${of(objects, 'Service', `troupe-${service}`)['spec'].ports[0].port}`,
          settings.get(`${service.toUpperCase()}_PORT`)?.example,
        );
    }
  });

  test('a setting of your own wins, and another one is another pod', () => {
    const hashOf = (objects: KubeObject[]): string =>
      of(objects, 'Deployment', 'troupe-web')['spec'].template.metadata.annotations['troupe.settings'];
    const changed = renderChart([{ ...LEAST, settings: { BACKEND_URL: 'http://elsewhere:1', DATABASE_POOL: 5 } }]);
    const { data } = of(changed, 'ConfigMap');
    assert.deepEqual([data.BACKEND_URL, data.DATABASE_POOL, data.HOST], ['http://elsewhere:1', '5', '0.0.0.0']);
    assert.notEqual(hashOf(changed), hashOf(renderChart([LEAST])));
  });

  test('the summarizer, which reads what strangers wrote, has no secret that opens anything else', () => {
    const [container] = of(renderChart([LEAST]), 'Deployment', 'troupe-summarizer')['spec'].template.spec.containers;
    assert.deepEqual(container.envFrom, [{ configMapRef: { name: 'troupe' } }]);
    assert.deepEqual(
      container.env.map(({ name }: { name: string }) => name),
      ['REDIS_URL', 'INTERNAL_API_KEY'],
    );
  });

  test('the Role is that of deploy/kubernetes, and there is none where agents are in the backends', () => {
    const documents = parseAllDocuments(readFileSync(path.join(deploy, 'kubernetes/agents.yaml'), 'utf8'));
    const role = documents.map((document) => document.toJS()).find(({ kind }) => kind === 'Role');
    const objects = renderChart([LEAST]);
    assert.deepEqual(of(objects, 'Role', 'troupe-agents')['rules'], role.rules);
    const mounted = (service: string, from: KubeObject[]) =>
      of(from, 'Deployment', `troupe-${service}`)['spec'].template.spec.automountServiceAccountToken;
    assert.deepEqual([mounted('backend', objects), mounted('web', objects)], [true, false]);
    const embedded = renderChart([{ ...LEAST, agents: { driver: 'embedded' } }]);
    assert.equal(
      embedded.some(({ kind }) => kind === 'Role'),
      false,
    );
    assert.equal(mounted('backend', embedded), false);
  });

  test('the ingress leads every path of /v1 that clients of others use to the backend, and no other', () => {
    const { rules } = of(renderChart(['examples/ingress.yaml']), 'Ingress')['spec'];
    const led = rules[0].http.paths as { path: string; backend: { service: { name: string } } }[];
    const to = (where: string): string | undefined =>
      led.find(({ path: prefix }) => prefix === '/' || where === prefix || where.startsWith(`${prefix}/`))?.backend
        .service.name;
    assert.ok(publicPaths().length > 50);
    for (const where of publicPaths()) assert.equal(to(where), 'troupe-backend', where);
    for (const where of [...closedPaths(), '/api/agents', '/']) assert.equal(to(where), 'troupe-web', where);
    assert.equal(rules[1].host, '*.agents.example.org');
  });

  test('a release of another name, an old cluster, more than one of a service', () => {
    const objects = renderChart([LEAST], { name: 'blue', apiVersions: ['v1', 'policy/v1beta1'] });
    assert.equal(of(objects, 'PodDisruptionBudget', 'blue-troupe-web').apiVersion, 'policy/v1beta1');
    assert.equal(of(renderChart([LEAST]), 'PodDisruptionBudget', 'troupe-web').apiVersion, 'policy/v1');
    assert.deepEqual(hookOf(of(objects, 'Job', 'blue-troupe-setup')), ['post-install', 'pre-upgrade']);
    const scaled = renderChart(['examples/autoscaling.yaml']);
    assert.equal(of(scaled, 'HorizontalPodAutoscaler', 'troupe-backend')['spec'].maxReplicas, 50);
    // who scales it says how many there are
    assert.equal('replicas' in of(scaled, 'Deployment', 'troupe-backend')['spec'], false);
  });
});

describe('what renders the chart', () => {
  const render = (source: string, dot: unknown = {}): string => new Templates().add(source)(dot);

  test('does as Go does', () => {
    const dot = { a: { b: 'x' }, none: '', list: ['p', 'q'], map: { z: 1, k: 2 }, yes: true };
    const cases: [source: string, shown: string][] = [
      ['{{ .a.b }}', 'x'],
      ['one  {{- .a.b -}}  two', 'onextwo'],
      ['a{{/* said to nobody */}}b', 'ab'],
      ['{{ if .none }}1{{ else if .yes }}2{{ else }}3{{ end }}', '2'],
      ['{{ with .a }}{{ .b }}{{ $.none }}{{ end }}', 'x'],
      ['{{ with .none }}1{{ else }}2{{ end }}', '2'],
      ['{{ range .list }}{{ . }},{{ end }}', 'p,q,'],
      ['{{ range $at, $one := .list }}{{ $at }}{{ $one }}{{ end }}', '0p1q'],
      ['{{ range $key, $value := .map }}{{ $key }}{{ $value }}{{ end }}', 'k2z1'],
      ['{{ range .nobody }}1{{ else }}2{{ end }}', '2'],
      ['{{ $x := "a" }}{{ if .yes }}{{ $x = "b" }}{{ end }}{{ $x }}', 'b'],
      ['{{ .none | default "d" | quote }}', '"d"'],
      ['{{ (dict "k" (list 1 2)).k | toYaml | nindent 2 }}', '\n  - 1\n  - 2'],
      ['{{ define "d" }}<{{ .b }}>{{ end }}{{ include "d" .a }}', '<x>'],
      ['{{ printf "%s-%d" "a" 3 | trunc 2 | trimSuffix "-" }}', 'a'],
      ['{{ and .yes .none }}|{{ or .none "o" }}|{{ not .none }}|{{ eq .a.b "x" }}', '|o|true|true'],
      ['{{ toYaml (dict "on" "yes") }}', '"on": "yes"'],
    ];
    for (const [source, shown] of cases) assert.equal(render(source, dot), shown, source);
  });

  test('refuses what it does not take, and what Helm would refuse or print wrongly', () => {
    const wrong: [source: string, why: RegExp][] = [
      ['{{ lookup "v1" "Pod" "" "" }}', /the function lookup is not taken/],
      ['{{ template "x" . }}', /the function template is not taken/],
      ['{{ constructor "x" }}', /the function constructor is not taken/],
      ['{{ `raw` }}', /is not taken/],
      ['{{ .a.b.c }}', /b has no c|a has no b/],
      ['{{ $nobody }}', /there is no variable/],
      ['{{ include "nobody" . }}', /nothing defines/],
      ['{{ if .a }}', /an end lacks/],
      ['{{ end }}', /a lost end/],
      ['{{ .a', /an action has no end/],
      ['{{ .large }}', /with an exponent/],
      ['{{ .missing }}', /cannot be printed/],
      ['{{ printf "%v" 1 }}', /printf %v is not taken/],
      ['{{ eq 1 "1" }}', /eq and ne compare/],
    ];
    for (const [source, why] of wrong) assert.throws(() => render(source, { a: {}, large: 5_000_000 }), why, source);
  });

  test('its page names every function that it takes, and no other', () => {
    const page = readFileSync(path.join(deploy, 'chart/README.md'), 'utf8');
    const listed = /^Functions: (.+?)\.$/ms.exec(page)?.[1] ?? '';
    assert.deepEqual(
      [...listed.matchAll(/`(\w+)`/g)].map((match) => match[1]),
      functionNames(),
    );
  });
});
