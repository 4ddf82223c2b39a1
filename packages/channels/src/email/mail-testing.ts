import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after } from 'node:test';

/** An IMAP server as RFC 3501 and RFC 2177 (IDLE) describe it, as far as one mailbox goes. */

interface Stored {
  uid: number;
  raw: string;
  seen: boolean;
}

export async function imapServer({
  user = 'ada@test.example',
  password = 'secret',
  canIdle = true,
  isPlain = true,
} = {}) {
  const events = new EventEmitter();
  const mails: Stored[] = [];
  const sockets = new Set<Socket>();
  let next = 1;
  const capability = ['IMAP4rev1', canIdle && 'IDLE', isPlain && 'AUTH=PLAIN'].filter(Boolean).join(' ');

  function serve(socket: Socket): void {
    sockets.add(socket);
    let buffer = '';
    let idling = '';
    let pleading = '';
    const say = (line: string): void => void (socket.writable && socket.write(`${line}\r\n`));
    const told = (): void => void (idling !== '' && say(`* ${mails.length} EXISTS`));
    events.on('mail', told);
    socket
      .on('error', () => {})
      .on('close', () => {
        events.off('mail', told);
        sockets.delete(socket);
        events.emit('closed');
      });
    const login = (tag: string, isRight: boolean): void =>
      say(isRight ? `${tag} OK signed in` : `${tag} NO [AUTHENTICATIONFAILED] Invalid credentials`);
    function uid(tag: string, rest: string): void {
      const [verb = '', which = ''] = rest.split(' ');
      const from = Number(which === 'UID' ? rest.split(' ')[2]?.split(':')[0] : which);
      if (/^search/i.test(verb)) {
        const found = mails.filter((mail) => mail.uid >= from).map((mail) => mail.uid);
        // As the RFC has it: `*` is the last message, whatever the range began with.
        const last = mails.at(-1)?.uid;
        say(`* SEARCH ${[...new Set([...found, ...(last === undefined ? [] : [last])])].join(' ')}`);
      }
      const at = mails.findIndex((mail) => mail.uid === from);
      const mail = mails[at];
      if (/^fetch/i.test(verb) && mail) {
        if (rest.includes('RFC822.SIZE'))
          say(`* ${at + 1} FETCH (UID ${from} RFC822.SIZE ${Buffer.byteLength(mail.raw)})`);
        else say(`* ${at + 1} FETCH (UID ${from} BODY[] {${Buffer.byteLength(mail.raw)}}\r\n${mail.raw})`);
      }
      if (/^store/i.test(verb) && mail) mail.seen = true;
      say(`${tag} OK done`);
      if (/^store/i.test(verb)) events.emit('seen', from);
    }
    function command(line: string): void {
      if (pleading !== '') {
        const words = Buffer.from(line, 'base64').toString().split('\0');
        const tag = pleading;
        pleading = '';
        return login(tag, words[1] === user && words[2] === password);
      }
      if (idling !== '') {
        if (line.toUpperCase() === 'DONE') say(`${idling} OK idle ended`);
        idling = '';
        return;
      }
      const [tag = '', verb = '', ...rest] = line.split(' ');
      const args = rest.join(' ');
      if (/^capability$/i.test(verb)) {
        say(`* CAPABILITY ${capability}`);
        say(`${tag} OK`);
      } else if (/^authenticate$/i.test(verb)) {
        pleading = tag;
        say('+ ');
      } else if (/^login$/i.test(verb)) login(tag, args === `"${user}" "${password}"`);
      else if (/^select$/i.test(verb)) {
        say(`* ${mails.length} EXISTS`);
        say('* OK [UIDVALIDITY 77] valid');
        say(`* OK [UIDNEXT ${next}] next`);
        say(`${tag} OK [READ-WRITE] selected`);
      } else if (/^uid$/i.test(verb)) uid(tag, args);
      else if (/^idle$/i.test(verb) && canIdle) {
        idling = tag;
        say('+ idling');
        events.emit('idle');
      } else if (/^logout$/i.test(verb)) {
        say('* BYE');
        say(`${tag} OK`);
        socket.end();
      } else say(`${tag} BAD unknown`);
    }
    say('* OK ready');
    socket.on('data', (chunk: Buffer) => {
      buffer += chunk.toString();
      for (let end = buffer.indexOf('\r\n'); end >= 0; end = buffer.indexOf('\r\n')) {
        const line = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        command(line);
      }
    });
  }

  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    events,
    mails,
    put(raw: string): void {
      mails.push({ uid: next++, raw: raw.replaceAll(/\r?\n/g, '\r\n'), seen: false });
      events.emit('mail');
    },
    /** Ends all connections, as a server that is restarted. */
    drop: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
