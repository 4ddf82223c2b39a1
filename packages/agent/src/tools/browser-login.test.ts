import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';
import type { LoginSource } from './browser.ts';
import { createStage, html, refOf } from './browser-testing.ts';

const PASSWORD = 'correct-horse-17';
const USERNAME = 'ada.lovelace';

const FORM = `
  <form action="/in" method="post"><label>Name <input name="name"></label>
  <label>Password <input id=p type=password name=password></label>
  <label>Comment <textarea name=c></textarea></label>
  <button>Sign in</button></form>
  <button onclick="p.type = 'text'">Show it</button>
  <button onclick="document.body.append('You typed ' + p.value)">Repeat it</button>`;

const posted: string[] = [];
const stage = await createStage(
  {
    '/': html(FORM),
    '/in': (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        posted.push(Buffer.concat(chunks).toString());
        html('<h1>Welcome</h1>')(request, response);
      });
    },
    // Scripts of a page that would like to be taken for another.
    '/liar': html(`<label>Password <input id=p type=password></label><script>
      Object.defineProperty(Document.prototype, 'defaultView', { get: () => ({ location: { origin: 'http://localhost' } }) });
      Object.defineProperty(Node.prototype, 'ownerDocument', { get: () => document });
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
      Object.defineProperty(HTMLInputElement.prototype, 'value', { set(v) { document.title = 'got ' + v; set.call(this, v); } });
    </script>`),
  },
  { logins: { list: () => logins.list(), open: (name) => logins.open(name) } },
);
after(() => stage.close());
const { use, url } = stage;
const all = [
  { name: 'shop', origin: url, username: USERNAME, password: PASSWORD },
  { name: 'bank', origin: 'https://bank.example', username: 'x', password: 'another-secret' },
];
const logins: LoginSource = {
  list: async () => all.map(({ name, origin }) => ({ name, origin })),
  open: async (name) => all.find((one) => one.name === name),
};

describe('sealed logins', { skip: needs('chromium', 'bubblewrap'), timeout: 120_000 }, () => {
  test('are listed without what is sealed', async () => {
    assert.deepEqual(await use('browser_logins'), { content: `shop: ${url}\nbank: https://bank.example` });
  });

  test('are typed by name, and never shown: not by the page either', async () => {
    const page = await use('browser_open', { url });
    const name = await use('browser_login', { ref: refOf(page, /textbox "Name"/), login: 'shop', field: 'username' });
    const word = await use('browser_login', { ref: refOf(page, /"Password"/), login: 'shop', field: 'password' });
    assert.match(word.content, /The password of the login shop was typed into e\d+\. It is not shown\./);
    const shown = await use('browser_click', { ref: refOf(page, /button "Show it"/) });
    assert.match(shown.content, /\[sealed\]/);
    const said = await use('browser_click', { ref: refOf(shown, /button "Repeat it"/) });
    assert.match(said.content, /You typed \[sealed\]/);
    for (const { content } of [name, word, shown, said]) {
      assert.ok(!content.includes(PASSWORD));
      assert.ok(!content.includes(USERNAME));
    }
    const inside = await use('browser_click', { ref: refOf(said, /button "Sign in"/) });
    assert.match(inside.content, /Welcome/);
    assert.deepEqual(posted, [`name=${USERNAME}&password=${PASSWORD}&c=`]);
  });

  test('go to their own site alone, into fields for them alone', async () => {
    const page = await use('browser_open', { url });
    const field = (line: RegExp) => refOf(page, line);
    const bank = await use('browser_login', { ref: field(/"Password"/), login: 'bank', field: 'password' });
    assert.deepEqual(bank, {
      content: `The login bank is for https://bank.example; this field is on ${url}. Nothing was typed.`,
      isError: true,
    });
    const seen = await use('browser_login', { ref: field(/"Name"/), login: 'shop', field: 'password' });
    assert.match(seen.content, /typed into a field for passwords only/);
    const comment = await use('browser_login', { ref: field(/"Comment"/), login: 'shop', field: 'username' });
    assert.match(comment.content, /typed into a field for names only/);
    const none = await use('browser_login', { ref: field(/"Name"/), login: 'nobody', field: 'password' });
    assert.match(none.content, /There is no login nobody/);
  });

  test('a page cannot pretend to be another site', async () => {
    const other = `http://127.0.0.1:${stage.port}/liar`;
    const page = await use('browser_open', { url: other });
    const said = await use('browser_login', { ref: refOf(page, /"Password"/), login: 'shop', field: 'password' });
    assert.match(
      said.content,
      new RegExp(`this field is on http://127\\.0\\.0\\.1:${stage.port}\\. Nothing was typed`),
    );
    assert.doesNotMatch((await use('browser_snapshot')).content, /got /);
  });
});
