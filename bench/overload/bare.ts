import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What this machine can do at best: a server of Node alone that says it is well, and refuses everything else at once. */
const REFUSAL = JSON.stringify({ error: 'The service is busy. Try again in a moment.' });

const server = createServer({ keepAliveTimeout: 72_000 }, ({ url }, response) => {
  if (url === '/health') response.writeHead(200, { 'content-length': 2 }).end('{}');
  else response.writeHead(503, { 'retry-after': '2', 'content-length': Buffer.byteLength(REFUSAL) }).end(REFUSAL);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ address: `http://127.0.0.1:${port}` }));
});
