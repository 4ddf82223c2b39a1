import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The least that a gateway in Node can do: read nothing, check nothing, count nothing, pipe both ways. */

const [, , upstream = ''] = process.argv;
const { hostname, port } = new URL(process.env['UPSTREAM'] ?? upstream);
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

const server = createServer((incoming, outgoing) => {
  const { host: _host, connection: _connection, ...headers } = incoming.headers;
  const passed = send({ agent, hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  passed.on('error', () => outgoing.destroy());
  incoming.pipe(passed);
});

server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
process.on('SIGTERM', () => process.exit(0));
