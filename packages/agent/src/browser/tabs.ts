import type { Cdp, CdpEvent } from './cdp.ts';

/** The pages that are open, what they are doing, and what they did unasked: dialogs, pop-ups. */

export interface Tab {
  targetId: string;
  sessionId: string;
  url: string;
  title: string;
  isLoading: boolean;
}

export interface Tabs {
  /** The page that is looked at; undefined: all are closed. */
  current: () => Tab | undefined;
  all: () => readonly Tab[];
  choose: (index: number) => boolean;
  hear: (event: CdpEvent) => void;
  /** Settles at the next thing that happens, or when that takes too long. */
  next: (ms: number) => Promise<void>;
}

const MOST_TABS = 5;
/** Of one call; a page that goes on asking is closed. */
const MOST_DIALOGS = 20;
const SAID_CHARACTERS = 300;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

interface TabsDeps {
  /** Called late: the browser is there by then. */
  cdp: () => Cdp;
  note: (text: string) => void;
}

export type OpenTabs = ReturnType<typeof createTabs>;

type Params = Readonly<Record<string, unknown>>;

/** Nobody waits for the answer: where the browser has ended, that is told elsewhere. */
const teller =
  (cdp: () => Cdp) =>
  (method: string, params: object, sessionId?: string): void =>
    void cdp()
      .send(method, params, { sessionId })
      .catch(() => undefined);

/** The pages themselves: they come and go, and one is looked at. */
function createList({ cdp, note }: TabsDeps) {
  const tabs: Tab[] = [];
  const tell = teller(cdp);
  let chosen: string | undefined;
  return {
    tabs,
    current: () => tabs.find((tab) => tab.targetId === chosen),
    choose(index: number): boolean {
      chosen = tabs[index]?.targetId ?? chosen;
      return tabs[index] !== undefined;
    },
    attached({ sessionId, targetInfo }: { sessionId?: string; targetInfo?: Params }): void {
      const targetId = textOf(targetInfo?.['targetId']);
      if (sessionId === undefined || tabs.some((tab) => tab.targetId === targetId)) return;
      if (tabs.length >= MOST_TABS) {
        note(`A page tried to open more than ${MOST_TABS} pages; the last one was closed.`);
        return tell('Target.closeTarget', { targetId });
      }
      const url = textOf(targetInfo?.['url']);
      if (tabs.length > 0) note(`A new page was opened and is looked at now: ${url || 'about:blank'}`);
      tabs.push({ targetId, sessionId, url, title: '', isLoading: false });
      chosen = targetId;
      tell('Page.enable', {}, sessionId);
    },
    gone(targetId: string): void {
      const at = tabs.findIndex((tab) => tab.targetId === targetId);
      if (at === -1) return;
      tabs.splice(at, 1);
      if (chosen === targetId) chosen = tabs.at(-1)?.targetId;
    },
  };
}

/** Answered at once, so that no page waits for ever: what leads nowhere is taken, what asks for something is refused. */
function createDialogs({ cdp, note }: TabsDeps) {
  const tell = teller(cdp);
  let count = 0;
  return {
    forgive: (): void => void (count = 0),
    answer({ targetId, sessionId }: Tab, { type, message }: Params): void {
      count += 1;
      if (count > MOST_DIALOGS) {
        if (count === MOST_DIALOGS + 1) note('The page opened one dialog after another and was closed.');
        return tell('Target.closeTarget', { targetId });
      }
      const isTaken = type === 'alert' || type === 'beforeunload';
      const said = JSON.stringify(textOf(message).slice(0, SAID_CHARACTERS));
      const how = isTaken ? 'closed' : 'answered with no';
      if (type !== 'beforeunload') note(`The page showed a dialog (${textOf(type)}), which was ${how}: ${said}`);
      tell('Page.handleJavaScriptDialog', { accept: isTaken }, sessionId);
    },
  };
}

/** Wakes whoever waits for something to happen. */
function createNext() {
  const waiting = new Set<() => void>();
  return {
    wake: (): void => waiting.forEach((wake) => wake()),
    next: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        waiting.add(done);
      }),
  };
}

export function createTabs(deps: TabsDeps): Tabs & { forgive: () => void } {
  const { tabs, current, choose, attached, gone } = createList(deps);
  const dialogs = createDialogs(deps);
  const { wake, next } = createNext();

  function onPage(tab: Tab, method: string, params: Params): void {
    const isTop = params['frameId'] === tab.targetId;
    if (method === 'Page.javascriptDialogOpening') dialogs.answer(tab, params);
    else if (method === 'Page.frameStartedLoading' && isTop) tab.isLoading = true;
    else if (method === 'Page.frameStoppedLoading' && isTop) tab.isLoading = false;
  }

  return {
    current,
    all: () => tabs,
    choose,
    next,
    forgive: dialogs.forgive,
    hear({ method, params, sessionId }) {
      const targetId = textOf(params['targetId']);
      if (method === 'Target.attachedToTarget') attached(params);
      else if (method === 'Target.detachedFromTarget' || method === 'Target.targetDestroyed') gone(targetId);
      else if (method === 'Target.targetCrashed') {
        deps.note('The page crashed and was closed.');
        teller(deps.cdp)('Target.closeTarget', { targetId });
        gone(targetId);
      } else if (method === 'Target.targetInfoChanged') {
        const info = params['targetInfo'] as { targetId?: string; url?: string; title?: string };
        const tab = tabs.find((one) => one.targetId === info.targetId);
        if (tab) Object.assign(tab, { url: textOf(info.url), title: textOf(info.title) });
      } else {
        const tab = tabs.find((one) => one.sessionId === sessionId);
        if (tab) onPage(tab, method, params);
      }
      wake();
    },
  };
}
