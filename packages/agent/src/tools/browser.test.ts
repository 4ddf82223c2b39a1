import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createStage, html, refOf } from './browser-testing.ts';

const FORM = html(`
  <h1>Orders</h1>
  <form action="/sent"><label>Name <input name="name" value="old"></label>
  <label>Size <select name="size"><option value="s">Small</option><option value="l">Large</option></select></label>
  <label><input type="checkbox" name="gift"> Gift</label><button>Send it</button></form>
  <a href="/file">Get the list</a> <a href="/popup" target="_blank">More</a>
  <p>Nothing to see in this paragraph.</p>`);

const stage = await createStage({
  '/': FORM,
  '/sent': (request, response) => html(`<p>Got ${decodeURIComponent(request.url ?? '')}</p>`)(request, response),
  '/file': (_, response) =>
    response.setHeader('content-disposition', 'attachment; filename="../../list of all.csv"').end('a,b\n1,2\n'),
  '/popup': html('<h1>The other page</h1>'),
  '/late': html('<script>setTimeout(() => document.body.append("It is ready"), 700)</script><p>Wait</p>'),
  '/dialogs': html("<button onclick=\"alert('first'); document.title = confirm('sure?')\">Ask</button>"),
  '/frame': html('<h1>Outside</h1><iframe src="/inner"></iframe>'),
  '/inner': html('<button onclick="document.body.append(\'clicked inside\')">Inside</button>'),
});
after(() => stage.close());
const { use, url } = stage;

describe('the browser', { skip: needs('chromium', 'bubblewrap'), timeout: 120_000 }, () => {
  test('shows a page as a tree with references, and fills in a form', async () => {
    const page = await use('browser_open', { url });
    assert.equal(page.isError, undefined, page.content);
    assert.match(page.content, /^Page: T <http:\/\/localhost:\d+\/>/);
    assert.match(page.content, /heading "Orders" level=1/);
    assert.match(page.content, /textbox "Name" \[e\d+\] value="old"/);
    await use('browser_type', { ref: refOf(page, /textbox/), text: 'Ada & Co' });
    const chosen = await use('browser_select', { ref: refOf(page, /combobox/), values: ['Large'] });
    assert.equal(chosen.isError, undefined, chosen.content);
    const wrong = await use('browser_select', { ref: refOf(chosen, /combobox/), values: ['Huge'] });
    assert.match(wrong.content, /there is no such choice; there are: Small, Large/);
    const checked = await use('browser_click', { ref: refOf(chosen, /checkbox/) });
    assert.match(checked.content, /checkbox "Gift" \[e\d+\].*checked/);
    const sent = await use('browser_click', { ref: refOf(checked, /button "Send it"/) });
    assert.match(sent.content, /Got \/sent\?name=Ada\+&\+Co&size=l&gift=on/);
    const back = await use('browser_back');
    assert.match(back.content, /heading "Orders"/);
    const gone = await use('browser_click', { ref: 'e999999' });
    assert.match(gone.content, /There is no e999999 in the last snapshot/);
  });

  test('Enter sends a form', async () => {
    const page = await use('browser_open', { url });
    const sent = await use('browser_type', { ref: refOf(page, /textbox/), text: 'Bob', submit: true });
    assert.match(sent.content, /Got \/sent\?name=Bob/);
  });

  test('a download lands in the workspace, under a name that stays inside', async () => {
    const page = await use('browser_open', { url });
    const got = await use('browser_click', { ref: refOf(page, /link "Get the list"/) });
    assert.match(got.content, /Downloaded: downloads\/.*list of all\.csv \(8 bytes\)/);
    const [name = ''] = await readdir(path.join(stage.root, 'downloads'));
    assert.equal(await readFile(path.join(stage.root, 'downloads', name), 'utf8'), 'a,b\n1,2\n');
    const opened = await use('browser_open', { url: `${url}/file` });
    assert.match(opened.content, /Downloaded: downloads\/.*-2\.csv/);
  });

  test('a screenshot is kept and shown', async () => {
    await use('browser_open', { url });
    const { content, pictures = [] } = await use('browser_screenshot');
    const [picture] = pictures;
    assert.match(content, /Kept as screenshots\/.*\.jpg/);
    assert.equal(picture?.mime, 'image/jpeg');
    const bytes = await readFile(path.join(stage.root, picture?.path ?? ''));
    assert.equal(bytes.subarray(0, 3).toString('hex'), 'ffd8ff');
    assert.equal(bytes.length, picture?.bytes);
  });

  test('a page that opens is looked at, and the others can be chosen', async () => {
    const page = await use('browser_open', { url });
    const more = await use('browser_click', { ref: refOf(page, /link "More"/) });
    assert.match(more.content, /A new page was opened and is looked at now/);
    const now = await use('browser_wait', { text: 'The other page', seconds: 20 });
    assert.match(now.content, /heading "The other page"/);
    const list = await use('browser_tabs', { choose: 1 });
    assert.match(list.content, /^1 \(looked at\): .*\n2: /);
    assert.match((await use('browser_snapshot')).content, /heading "Orders"/);
    assert.match((await use('browser_tabs', { choose: 9 })).content, /There is no page 9/);
    await stage.nextRun();
  });

  test('waits for what comes later, and says when it does not', async () => {
    await use('browser_open', { url: `${url}/late` });
    assert.match((await use('browser_wait', { text: 'It is ready', seconds: 20 })).content, /It is ready/);
    const never = await use('browser_wait', { text: 'It is never ready', seconds: 0.5 });
    assert.deepEqual(never, { content: 'The page did not show "It is never ready" in 0.5 s.', isError: true });
  });

  test('dialogs are answered and told', async () => {
    const page = await use('browser_open', { url: `${url}/dialogs` });
    const asked = await use('browser_click', { ref: refOf(page, /button "Ask"/) });
    assert.match(asked.content, /dialog \(alert\), which was closed: "first"/);
    assert.match(asked.content, /dialog \(confirm\), which was answered with no: "sure\?"/);
    assert.match(asked.content, /Page: false/);
  });

  test('what is in a frame is shown and used', async () => {
    const page = await use('browser_open', { url: `${url}/frame` });
    assert.match(page.content, /In the frame http:\/\/localhost:\d+\/inner:/);
    const clicked = await use('browser_click', { ref: refOf(page, /button "Inside"/) });
    assert.match(clicked.content, /clicked inside/);
  });

  test('each run has a browser of its own, which ends with it', async () => {
    const page = await use('browser_open', { url });
    assert.match(page.content, /Orders/);
    await stage.nextRun();
    assert.match((await use('browser_snapshot')).content, /<about:blank>/);
  });

  test('without Chromium it is off, and says so', async () => {
    const none = await createStage({}, { chromium: ['/nowhere/chromium'] });
    after(() => none.close());
    const said = await none.use('browser_open', { url });
    assert.deepEqual(said, { content: 'The browser is off: Chromium is not installed.', isError: true });
  });
});

test('without a sandbox it is off, and says so', async () => {
  const none = await createStage({}, { sandbox: createSandbox({ bwrap: '/nowhere/bwrap' }) });
  after(() => none.close());
  const said = await none.use('browser_open', { url: 'http://example.com/' });
  assert.match(said.content, /^The browser is off: there is no sandbox to run it in \(bubblewrap is not installed\)/);
});
