import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A process that only says that it is well: what it takes while others have too much to do is the machine's share of it. */
const server = createServer((_request, response) => void response.end('{}'));
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
process.on('SIGTERM', () => process.exit(0));
