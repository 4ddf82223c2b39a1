import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { docx } from '@troupe/testing/documents/documents';
import { testAgent, until } from '../testing.ts';
import { imapServer, mail, make, smtpServer } from './mail-testing.ts';

const withFile = (id: string, name: string, content: string | Buffer = 'words'): string =>
  mail(
    id,
    [
      '--b\r\nContent-Type: text/plain\r\n\r\nLook',
      `--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="=?utf-8?b?${Buffer.from(name).toString('base64')}?="\r\n\r\n${Buffer.from(content as string).toString('base64')}`,
      '--b--',
    ].join('\r\n'),
    { 'Content-Type': 'multipart/mixed; boundary=b' },
  );

test('a mail whose files cannot be kept is answered, and so is the next', async () => {
  const [imap, smtp] = [await imapServer(), await smtpServer()];
  const { agent, files } = await testAgent();
  const channel = await make(agent, { smtp: smtp.port, imap: imap.port });
  const idle = once(imap.events, 'idle');
  await channel.start();
  await idle;

  // A hundred letters of three bytes each are more than a disk takes for a name.
  imap.put(withFile('long', `${'报'.repeat(100)}.txt`));
  const long = await smtp.next();
  const name = /uploads\/(mail-[0-9a-f]{8}-0-报+\.txt)/.exec(long.text)?.[1] ?? '';
  assert.equal(await files.read(`uploads/${name}`), 'words');

  // The agent has put a file where the folder was: nothing can be kept there.
  await rm(path.join(files.root, 'uploads'), { recursive: true });
  await writeFile(path.join(files.root, 'uploads'), '');
  imap.put(withFile('closed', 'plan.txt'));
  assert.match(
    (await smtp.next()).text,
    /Look\n\n\[attached file plan\.txt is not here: the folder .* cannot be written/,
  );

  // What may go well another time is tried so often, and no oftener.
  let tries = 0;
  const workspace = agent.workspace.bind(agent);
  agent.workspace = async () => ({
    ...(await workspace()),
    put: () => Promise.reject(new Error(`out of order ${(tries += 1)}`)),
  });
  imap.put(withFile('broken', 'plan.txt'));
  imap.put(mail('after', 'And now?'));
  assert.match((await smtp.next()).text, /\[attached file plan\.txt is not here: it could not be kept\]/);
  assert.ok(tries > 3);
  assert.match((await smtp.next()).text, /And now\?/);
  await until(async () => imap.mails.every(({ seen }) => seen));
  await channel.stop();
});

test('a document that comes by mail is read', async () => {
  const [imap, smtp] = [await imapServer(), await smtpServer()];
  const { agent } = await testAgent();
  const channel = await make(agent, { smtp: smtp.port, imap: imap.port });
  const idle = once(imap.events, 'idle');
  await channel.start();
  await idle;
  imap.put(withFile('lease', 'lease.docx', docx(['Lease', 'Heading1'], 'The rent is 900.')));
  assert.match((await smtp.next()).text, /Look[^]*lease\.docx[^]*# Lease\n\nThe rent is 900\./);
  await channel.stop();
});
