import { createServer, type AddressInfo, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** A mail server that lets anybody in and, asked to wait for mail, says short lines without end. In a thread of its own. */

const LINES = Buffer.from('* \r\n'.repeat(64_000));

function flood(socket: Socket): void {
  while (socket.writable && socket.write(LINES));
  socket.once('drain', () => flood(socket));
}

function answer(socket: Socket, line: string): void {
  const [tag = '', verb = ''] = line.split(' ');
  const say = (text: string): void => void socket.write(`${text}\r\n`);
  if (verb === 'CAPABILITY') say('* CAPABILITY IMAP4rev1 IDLE');
  if (verb === 'SELECT') say('* OK [UIDVALIDITY 1]\r\n* OK [UIDNEXT 1]');
  if (verb === 'IDLE') return flood(socket);
  say(`${tag} OK done`);
}

const server = createServer((socket) => {
  let heard = '';
  socket.on('error', () => {});
  socket.write('* OK ready\r\n');
  socket.on('data', (piece: Buffer) => {
    heard += piece.toString();
    for (let end = heard.indexOf('\r\n'); end >= 0; end = heard.indexOf('\r\n')) {
      answer(socket, heard.slice(0, end));
      heard = heard.slice(end + 2);
    }
  });
});
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
