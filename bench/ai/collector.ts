import { createServer, type AddressInfo } from 'node:net';

/** The collector of the bench: counts the bytes of what it is sent and says that it has it, so that it costs next to nothing. */

const ANSWER =
  'HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n';
const HEAD_END = '\r\n\r\n';

const server = createServer({ noDelay: true }, (socket) => {
  let head = '';
  /** Of the body; undefined: its length is not known yet. */
  let left: number | undefined;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    if (left === undefined) {
      head += chunk.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(head)?.[1]);
      left = length - (head.length - end - HEAD_END.length);
      head = '';
    } else left -= chunk.length;
    if (left > 0) return;
    left = undefined;
    socket.write(ANSWER);
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
process.on('SIGTERM', () => process.exit(0));
