import { allEndpoints, COMMON_ERRORS, errorsOf, openApi, type Endpoint, type Service } from '@troupe/contract';
import type { Server } from '@troupe/kernel';

/** The API reference at /docs: every endpoint of the three services, as plain HTML that needs no script. */

const SERVICES: readonly { name: Service; title: string; about: string }[] = [
  { name: 'web', title: 'Web API', about: 'What people and their programs call.' },
  { name: 'backend', title: 'Backend API', about: 'What the web service and operators call.' },
  { name: 'summarizer', title: 'Web summarizer', about: 'Fetches a page and tells what is on it.' },
];

export function referenceRoutes(server: Server, version: string): void {
  let page: Buffer | undefined;
  server.app.get('/docs', async (_request, reply) => {
    page ??= Buffer.from(render(allEndpoints(), version));
    return reply.type('text/html; charset=utf-8').send(page);
  });
}

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char);

const anchor = ({ service, method, path }: Endpoint): string =>
  `${service}-${method}-${path.replace(/[^A-Za-z0-9]+/g, '-')}`.toLowerCase();

/** What most people look for; the rest follows. */
const FIRST = [
  'Identity',
  'Agents',
  'Chat',
  'Conversations',
  'Memory',
  'Teams',
  'Scheduled tasks',
  'Keys',
  'Usage',
  'AI',
];
const rank = (tag: string): number => (FIRST.includes(tag) ? FIRST.indexOf(tag) : FIRST.length);

function render(endpoints: readonly Endpoint[], version: string): string {
  const sections = SERVICES.map((service) => ({
    ...service,
    tags: Object.entries(
      Object.groupBy(
        endpoints.filter((one) => one.service === service.name),
        ({ tag }) => tag,
      ),
    ).sort(([a], [b]) => rank(a) - rank(b)),
  }));
  const nav = sections
    .map(
      ({ title, tags }) =>
        `<p>${title}</p><ul>${tags.map(([tag, list]) => `<li><a href="#${anchor(list![0]!)}">${escape(tag)}</a></li>`).join('')}</ul>`,
    )
    .join('');
  const body = sections
    .map(
      ({ title, about, tags }) =>
        `<section><h2>${title}</h2><p>${about}</p>${tags.map(([tag, list]) => `<h3>${escape(tag)}</h3>${list!.map(article).join('')}`).join('')}</section>`,
    )
    .join('');
  const common = Object.entries(COMMON_ERRORS)
    .map(([status, texts]) => row(status, texts.join('\n')))
    .join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="/icon.svg" type="image/svg+xml"><title>Troupe API reference</title><style>${STYLE}</style></head><body><nav aria-label="Sections"><a class="home" href="/">Troupe</a>${nav}</nav><main><h1>API reference</h1><p>Version ${escape(version)}. Machine-readable: <a href="/api/openapi.json">OpenAPI 3.1</a>.</p><p>A program sends <code>Authorization: Bearer sk_…</code> with a key from <a href="/dashboard/settings?tab=keys">Settings</a>. An error is <code>{"error": "…"}</code> with the text that stands beside its status; what stands in angle brackets differs. Any endpoint may also answer one of these:</p><table>${common}</table>${body}</main></body></html>`;
}

function article(one: Endpoint): string {
  const { paths } = openApi([one], { title: '', version: '', url: '' }) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const operation = Object.values(Object.values(paths)[0] ?? {})[0]!;
  const reply = operation.responses[String(one.status ?? 200)]?.content;
  const parts = [
    ...operation.parameters.map(({ name, in: where, required, schema }) =>
      row(`${name} (${where}${required ? '' : ', optional'})`, typeText(schema)),
    ),
    ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => row('body', typeText(schema))),
    row(
      `${one.status ?? 200}`,
      one.reply ? typeText(Object.values(reply ?? {})[0]?.schema ?? {}) : (one.produces ?? 'text'),
    ),
    ...Object.entries(errorsOf(one)).map(([status, texts]) => row(status, texts.join('\n'))),
  ];
  return `<article id="${anchor(one)}"><h4><span class="method ${one.method.toLowerCase()}">${one.method}</span> <code>${escape(one.path)}</code></h4><p>${escape(one.summary)}. <span class="auth">${escape(operation.description)}</span></p><table>${parts.join('')}</table></article>`;
}

const row = (name: string, value: string): string =>
  `<tr><th scope="row">${escape(name)}</th><td><pre>${escape(value)}</pre></td></tr>`;

interface Schema {
  type?: string | string[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: Schema | boolean;
}

interface Operation {
  description: string;
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

/** A JSON schema the way a TypeScript reader would write it. */
function typeText(schema: Schema, indent = ''): string {
  if (schema.format === 'binary') return 'bytes (application/octet-stream)';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => typeText(choice, indent)).join(' | ');
  if (schema.type === 'array') return `${typeText(schema.items ?? {}, indent)}[]`;
  if (schema.properties) {
    const inner = `${indent}  `;
    const fields = Object.entries(schema.properties).map(
      ([name, field]) => `${inner}${name}${schema.required?.includes(name) ? '' : '?'}: ${typeText(field, inner)}`,
    );
    return `{\n${fields.join('\n')}\n${indent}}`;
  }
  if (typeof schema.additionalProperties === 'object')
    return `{ [name]: ${typeText(schema.additionalProperties, indent)} }`;
  return Array.isArray(schema.type) ? schema.type.join(' | ') : (schema.type ?? 'any');
}

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#1d1b18,#ece8df);--soft:light-dark(#524c45,#bdb8ad);--line:light-dark(#ddd5c8,#2d322d);--paper:light-dark(#f7f4ee,#131513);--accent:light-dark(#1f5f52,#7cc4ae)}
*{box-sizing:border-box}body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);display:grid;grid-template-columns:16rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.5rem;border-right:1px solid var(--line)}nav p{margin:1rem 0 .25rem;font-weight:600}nav ul{list-style:none;margin:0;padding:0}nav a,main a{color:var(--accent)}nav .home{font-weight:700;font-size:1.25rem;text-decoration:none}
main{padding:2rem clamp(1rem,4vw,3rem);max-width:64rem}article{border-top:1px solid var(--line);padding:1rem 0}h4{margin:0;font-size:1rem}.auth{color:var(--soft)}
.method{display:inline-block;min-width:4.5rem;font:600 .8rem ui-monospace,monospace;color:var(--accent)}code,pre{font:.875rem/1.5 ui-monospace,monospace;overflow-wrap:anywhere}pre{margin:0;white-space:pre-wrap}
table{border-collapse:collapse;width:100%}th{text-align:left;vertical-align:top;font-weight:500;color:var(--soft);width:12rem;padding:.25rem 1rem .25rem 0;overflow-wrap:anywhere}td{padding:.25rem 0}
@media(max-width:48rem){body{display:block}nav{position:static;height:auto;border:0}th,td{display:block;width:auto}}`;
