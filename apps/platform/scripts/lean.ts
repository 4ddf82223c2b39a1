import http from 'node:http';
import type { Plugin } from 'rolldown';

/** What packages and Node do when they are loaded and no start needs. See docs/adr/0157. */

const HTTP = '\0http';

/**
 * An `import` of node:http asks it for all that it has, and with that for Node's own WebSocket, which loads all of undici: 11 MB of
 * memory, and 30 ms of a start. Whoever asks by name for what is worked out when asked (`get`) does not find it when this is built.
 */
export const lightHttp: Plugin = {
  name: 'light-http',
  resolveId: {
    filter: { id: /^(?:node:)?http$/ },
    handler: (_specifier, _importer, { kind }) => (kind === 'import-statement' ? HTTP : null),
  },
  load: {
    filter: { id: /^\0http$/ },
    handler() {
      const all = Object.entries(Object.getOwnPropertyDescriptors(http));
      const names = all.filter(([, { get }]) => !get).map(([name]) => name);
      return `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${names.join(', ')} } = http;`;
    },
  },
};

/** In which file what becomes what. It must be there once, so that a new version of the package is looked at. */
const CHANGES: Readonly<Record<string, readonly (readonly [is: string, becomes: string])[]>> = {
  // The router compiles a function for each part of each path. To compare texts finds a route in half the time, with as many as ours.
  'find-my-way/lib/node.js': [
    ['if (prefix.length >= LONG_PREFIX_MIN_LENGTH) {', 'if (prefix.length > 0) {'],
    ['path.indexOf(prefix, i) === i', 'path.startsWith(prefix, i)'],
  ],
  // And one for each route: here when its first request comes.
  'find-my-way/lib/handler-storage.js': [
    [
      '_createParamsObject: this._compileCreateParamsObject(params)',
      '_createParamsObject: (...given) => (handlerObject._createParamsObject = this._compileCreateParamsObject(params))(...given)',
    ],
  ],
  // Looks for files only where it makes a route for each of them.
  '@fastify/static/index.js': [
    ["const { glob } = require('glob')", "const glob = (...given) => require('glob').glob(...given)"],
  ],
  // Only where a server speaks it.
  'fastify/lib/server.js': [
    ["const http2 = require('node:http2')", ''],
    ['http2.createSecureServer(', "require('node:http2').createSecureServer("],
    ['http2.createServer(', "require('node:http2').createServer("],
  ],
};

export const lean: Plugin = {
  name: 'lean',
  transform: {
    filter: { id: /node_modules\/(?:find-my-way|@fastify\/static|fastify)\// },
    handler(code, id) {
      let changed = code;
      for (const [is, becomes] of CHANGES[id.split('node_modules/').at(-1) ?? ''] ?? []) {
        if (changed.split(is).length !== 2) throw new Error(`${id} has no or several: ${is}`);
        changed = changed.replace(is, () => becomes);
      }
      return changed === code ? null : changed;
    },
  },
};
