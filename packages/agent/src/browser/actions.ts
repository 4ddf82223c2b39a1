import { CdpError, type Cdp } from './cdp.ts';
import { BrowserError } from './browser-error.ts';
import type { Look } from './look.ts';
import type { Turns } from './turns.ts';
import { createSealed, type Login } from './sealed.ts';
import type { Tab, Tabs } from './tabs.ts';
import { whyNotOpened } from './words.ts';

/** What an agent can do in a browser. Every answer says where it is, what happened unasked, and what is shown. */

export interface Actions {
  open: (url: string) => Promise<string>;
  snapshot: () => Promise<string>;
  click: (ref: string) => Promise<string>;
  type: (ref: string, text: string, submit: boolean) => Promise<string>;
  /** Types what is sealed, which is never shown. */
  login: (ref: string, login: Login) => Promise<string>;
  select: (ref: string, values: readonly string[]) => Promise<string>;
  press: (key: string) => Promise<string>;
  wait: (wanted: { seconds: number; text?: string | undefined }, signal: AbortSignal) => Promise<string>;
  back: () => Promise<string>;
  tabs: (choose?: number) => Promise<string>;
  /** A picture of the page as JPEG, and what is to be said with it. */
  screenshot: (whole: boolean) => Promise<{ picture: Buffer; says: string }>;
}

const KEYS = {
  Enter: { code: 'Enter', keyCode: 13, text: '\r' },
  Tab: { code: 'Tab', keyCode: 9, text: '' },
  Escape: { code: 'Escape', keyCode: 27, text: '' },
  Backspace: { code: 'Backspace', keyCode: 8, text: '' },
  Delete: { code: 'Delete', keyCode: 46, text: '' },
  ArrowUp: { code: 'ArrowUp', keyCode: 38, text: '' },
  ArrowDown: { code: 'ArrowDown', keyCode: 40, text: '' },
  ArrowLeft: { code: 'ArrowLeft', keyCode: 37, text: '' },
  ArrowRight: { code: 'ArrowRight', keyCode: 39, text: '' },
  PageUp: { code: 'PageUp', keyCode: 33, text: '' },
  PageDown: { code: 'PageDown', keyCode: 34, text: '' },
  Home: { code: 'Home', keyCode: 36, text: '' },
  End: { code: 'End', keyCode: 35, text: '' },
} as const;
type KeyName = keyof typeof KEYS;

/** After a step; a snapshot that is asked for may be longer. */
const AFTER_CHARACTERS = 12_000;
const SNAPSHOT_CHARACTERS = 30_000;
const LOOK_EVERY_MS = 300;
const MOST_HEIGHT = 8_000;

interface Deps extends Look {
  cdp: Cdp;
  tabs: Tabs;
  turns: Turns;
  openMs: number;
}

/** Runs a function of ours on a part of the page, in a world that the page's own scripts do not reach. */
async function callOn<T>(
  cdp: Cdp,
  { sessionId }: Tab,
  { ref, node, frameId }: { ref: string; node: number; frameId: string },
  source: string,
  args: readonly unknown[],
): Promise<T> {
  const world = { frameId, worldName: 'agent' };
  const { executionContextId } = await cdp.send<{ executionContextId: number }>('Page.createIsolatedWorld', world, {
    sessionId,
  });
  const { object } = await cdp.send<{ object: { objectId: string } }>(
    'DOM.resolveNode',
    { backendNodeId: node, executionContextId },
    { sessionId },
  );
  const { result, exceptionDetails } = await cdp.send<{ result: { value?: T }; exceptionDetails?: unknown }>(
    'Runtime.callFunctionOn',
    {
      functionDeclaration: source,
      objectId: object.objectId,
      arguments: args.map((value) => ({ value })),
      returnByValue: true,
      userGesture: true,
    },
    { sessionId },
  );
  if (exceptionDetails) throw new BrowserError(`${ref} cannot be used in this way.`);
  return result.value as T;
}

/** What every step needs: the page, its parts by reference, and the report. */
function createSteps(deps: Deps) {
  const { cdp, tabs, turns, look, places } = deps;
  const sealed = createSealed(cdp);

  function page(): Tab {
    const tab = tabs.current();
    if (!tab) throw new BrowserError('No page is open. Open one with browser_open.');
    return tab;
  }

  function place(ref: string) {
    const found = places.get(ref);
    if (!found)
      throw new BrowserError(`There is no ${ref} in the last snapshot. Take a new one with browser_snapshot.`);
    return found;
  }

  async function report(most = AFTER_CHARACTERS): Promise<string> {
    const tab = tabs.current();
    const shown = tab ? await look(tab, most) : 'No page is open.';
    const where = tab ? [`Page: ${tab.title || '(no title)'} <${tab.url}>`] : [];
    return sealed.hidden([...turns.take(), ...where, shown].join('\n'));
  }

  /** Does something to a page, waits for what comes of it, and tells. */
  const step = (work: (tab: Tab) => Promise<void>): Promise<string> =>
    turns.inTurn(async () => {
      await work(page());
      await turns.settle();
      return report();
    });

  const on = <T>(tab: Tab, ref: string, source: string, ...args: unknown[]): Promise<T> =>
    callOn(cdp, tab, { ref, ...place(ref) }, source, args);

  return { page, place, report, step, on, sealed };
}

type Steps = ReturnType<typeof createSteps>;

async function click({ cdp }: Deps, { on, place }: Steps, tab: Tab, ref: string): Promise<void> {
  const { sessionId } = tab;
  const backendNodeId = place(ref).node;
  await cdp.send('DOM.scrollIntoViewIfNeeded', { backendNodeId }, { sessionId }).catch(unlessGone);
  const { quads = [] } = await cdp
    .send<{ quads?: number[][] }>('DOM.getContentQuads', { backendNodeId }, { sessionId })
    .catch(() => ({ quads: [] }));
  const [x1, y1, , , x3, y3] = quads[0] ?? [];
  // What takes up no room can still be meant.
  if (x1 === undefined || y1 === undefined || x3 === undefined || y3 === undefined)
    return on(tab, ref, 'function () { this.click(); }');
  const at = { x: (x1 + x3) / 2, y: (y1 + y3) / 2 };
  for (const [type, more] of [
    ['mouseMoved', {}],
    ['mousePressed', { button: 'left', clickCount: 1 }],
    ['mouseReleased', { button: 'left', clickCount: 1 }],
  ] as const)
    await mouse(cdp, { type, ...at, ...more }, sessionId);
}

/** A dialog that a click opens holds the browser's answer back until it is closed, and the page may be gone by then. */
const mouse = async (cdp: Cdp, event: object, sessionId: string): Promise<void> => {
  await cdp.send('Input.dispatchMouseEvent', event, { sessionId }).catch(unlessGone);
};

function unlessGone(error: unknown): void {
  if (!(error instanceof CdpError && error.kind === 'refused')) throw error;
}

async function press(cdp: Cdp, name: KeyName, sessionId: string): Promise<void> {
  const { code, keyCode, text } = KEYS[name];
  const key = { key: name, code, windowsVirtualKeyCode: keyCode };
  await cdp
    .send('Input.dispatchKeyEvent', { type: 'keyDown', ...key, ...(text && { text }) }, { sessionId })
    .catch(unlessGone);
  await cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key }, { sessionId }).catch(unlessGone);
}

/** Of what is there already nothing stays. */
const EMPTY = `function () {
  if (this.readOnly || this.disabled) return false;
  this.focus();
  if (typeof this.select === 'function') this.select();
  else if (this.isContentEditable) getSelection().selectAllChildren(this);
  return this.isContentEditable || 'value' in this;
}`;

const CHOOSE = `function (values) {
  if (!(this instanceof HTMLSelectElement)) return 'it is no list to choose from; click it instead';
  const all = [...this.options];
  const found = values.map((value) => all.find((one) => one.value === value || one.label.trim() === value.trim()));
  if (found.includes(undefined)) return 'there is no such choice; there are: ' + all.map((one) => one.label.trim()).join(', ').slice(0, 1000);
  if (found.length > 1 && !this.multiple) return 'only one can be chosen';
  for (const one of all) one.selected = found.includes(one);
  this.dispatchEvent(new Event('input', { bubbles: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return '';
}`;

async function open({ cdp, turns, openMs }: Deps, { sessionId }: Tab, url: string): Promise<void> {
  try {
    const { errorText = '' } = await cdp.send<{ errorText?: string }>(
      'Page.navigate',
      { url },
      { sessionId, timeoutMs: openMs },
    );
    await turns.settle();
    // What is downloaded instead of shown breaks off too.
    if (errorText !== '' && errorText !== 'net::ERR_ABORTED')
      throw new BrowserError(`${url} could not be opened: ${whyNotOpened(errorText)}.`);
  } catch (error) {
    if (!(error instanceof CdpError && error.kind === 'silent')) throw error;
    await cdp.send('Page.stopLoading', {}, { sessionId });
    throw new BrowserError(`${url} could not be opened: it did not answer in ${openMs / 1000} s.`);
  }
}

async function screenshot({ cdp }: Deps, { sessionId }: Tab, whole: boolean): Promise<Buffer> {
  const { cssContentSize: size } = await cdp.send<{ cssContentSize: { width: number; height: number } }>(
    'Page.getLayoutMetrics',
    {},
    { sessionId },
  );
  const clip = { x: 0, y: 0, width: Math.min(size.width, 2000), height: Math.min(size.height, MOST_HEIGHT), scale: 1 };
  const { data } = await cdp.send<{ data: string }>(
    'Page.captureScreenshot',
    { format: 'jpeg', quality: 70, ...(whole && { clip, captureBeyondViewport: true }) },
    { sessionId },
  );
  return Buffer.from(data, 'base64');
}

/** Looks again and again, until the text is there or the time is over. */
async function waitFor(
  { cdp, tabs }: Deps,
  { page }: Steps,
  { seconds, text }: { seconds: number; text?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until && !signal.aborted) {
    if (text !== undefined) {
      const expression = `(document.body?.innerText ?? "").includes(${JSON.stringify(text)})`;
      const { sessionId } = page();
      const { result } = await cdp.send<{ result: { value?: boolean } }>(
        'Runtime.evaluate',
        { expression },
        { sessionId },
      );
      if (result.value) return;
    }
    await tabs.next(Math.min(LOOK_EVERY_MS, until - Date.now()));
  }
  signal.throwIfAborted();
  if (text !== undefined) throw new BrowserError(`The page did not show ${JSON.stringify(text)} in ${seconds} s.`);
}

function createTyping({ cdp, turns }: Deps, steps: Steps): Pick<Actions, 'type' | 'login' | 'select' | 'press'> {
  const { step, on, place, sealed } = steps;
  return {
    type: (ref, text, submit) =>
      step(async (tab) => {
        if (!(await on<boolean>(tab, ref, EMPTY))) throw new BrowserError(`Nothing can be typed into ${ref}.`);
        await cdp.send('Input.insertText', { text }, { sessionId: tab.sessionId });
        if (submit) await press(cdp, 'Enter', tab.sessionId);
      }),
    login: (ref, login) =>
      turns.inTurn(async () => {
        const why = await sealed.type(steps.page(), place(ref), login);
        if (why !== undefined) throw new BrowserError(why);
        return `The ${login.field} of the login ${login.name} was typed into ${ref}. It is not shown.`;
      }),
    select: (ref, values) =>
      step(async (tab) => {
        const why = await on<string>(tab, ref, CHOOSE, values);
        if (why !== '') throw new BrowserError(`${ref}: ${why}.`);
      }),
    press: (key) => step((tab) => press(cdp, key as KeyName, tab.sessionId)),
  };
}

export function createActions(deps: Deps): Actions {
  const { cdp, tabs, turns } = deps;
  const steps = createSteps(deps);
  const { page, report, step, sealed } = steps;
  return {
    ...createTyping(deps, steps),
    open: (url) =>
      turns.inTurn(async () => {
        if (!tabs.current()) await cdp.send('Target.createTarget', { url: 'about:blank' });
        for (let tries = 0; !tabs.current() && tries < 20; tries++) await tabs.next(100);
        await open(deps, page(), url);
        return report();
      }),
    snapshot: () => turns.inTurn(() => report(SNAPSHOT_CHARACTERS)),
    click: (ref) => step((tab) => click(deps, steps, tab, ref)),
    wait: (wanted, signal) =>
      turns.inTurn(async () => {
        await waitFor(deps, steps, wanted, signal);
        await turns.settle();
        return report();
      }),
    back: () =>
      step(async ({ sessionId }) => {
        const { currentIndex, entries } = await cdp.send<{ currentIndex: number; entries: { id: number }[] }>(
          'Page.getNavigationHistory',
          {},
          { sessionId },
        );
        const entry = entries[currentIndex - 1];
        if (!entry) throw new BrowserError('There is no page before this one.');
        await cdp.send('Page.navigateToHistoryEntry', { entryId: entry.id }, { sessionId });
      }),
    tabs: (choose) =>
      turns.inTurn(async () => {
        if (choose !== undefined && !tabs.choose(choose - 1)) throw new BrowserError(`There is no page ${choose}.`);
        const chosen = tabs.current();
        const list = tabs
          .all()
          .map((tab, index) => `${index + 1}${tab === chosen ? ' (looked at)' : ''}: ${tab.title} <${tab.url}>`);
        return sealed.hidden(list.join('\n') || 'No page is open.');
      }),
    screenshot: (whole) =>
      turns.inTurn(async () => {
        const tab = page();
        const picture = await screenshot(deps, tab, whole);
        return { picture, says: sealed.hidden([...turns.take(), `${tab.title} <${tab.url}>`].join('\n')) };
      }),
  };
}
