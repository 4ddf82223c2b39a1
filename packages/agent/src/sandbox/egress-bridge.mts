// Runs inside a sandbox that has no network: offers an HTTP proxy on its loopback whose other end is a Unix socket,
// starts the given program with it, and ends with it.
import { spawn } from 'node:child_process';
import net, { type AddressInfo } from 'node:net';

const [socketPath = '', pipes = '0', ...command] = process.argv.slice(2);
/** Descriptors after the first three that are the program's. */
const further = Array.from({ length: Number(pipes) }, (_, index) => index + 3);

const server = net.createServer((client) => {
  const upstream = net.connect(socketPath);
  client.pipe(upstream).pipe(client);
  client.on('error', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
});

server.listen(0, '127.0.0.1', () => {
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY'];
  const settings = [...names.map((name) => `${name}=${proxy}`), 'NODE_USE_ENV_PROXY=1'];
  const child = spawn('/usr/bin/env', [...settings, ...command], {
    stdio: ['inherit', 'inherit', 'inherit', ...further],
  });
  child.on('error', (error) => {
    console.error(error.message);
    process.exit(127);
  });
  child.on('exit', (code) => process.exit(code ?? 137));
});
