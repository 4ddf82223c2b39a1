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

export function createTabs({ cdp, note }: TabsDeps): Tabs & { forgive: () => void } {
  const tabs: Tab[] = [];
  const waiting = new Set<() => void>();
  let chosen: string | undefined;
  let dialogs = 0;

  const bySession = (sessionId: string | undefined): Tab | undefined => tabs.find((tab) => tab.sessionId === sessionId);
  /** Nobody waits for the answer: where the browser has ended, that is told elsewhere. */
  const tell = (method: string, params: object, sessionId?: string): void =>
    void cdp()
      .send(method, params, { sessionId })
      .catch(() => undefined);

  function attached({ sessionId, targetInfo }: { sessionId?: string; targetInfo?: Record<string, unknown> }): void {
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
  }

  function gone(targetId: string): void {
    const at = tabs.findIndex((tab) => tab.targetId === targetId);
    if (at === -1) return;
    tabs.splice(at, 1);
    if (chosen === targetId) chosen = tabs.at(-1)?.targetId;
  }

  /** Answered at once, so that no page waits for ever: what leads nowhere is taken, what asks for something is refused. */
  function dialog(tab: Tab, { type, message }: Record<string, unknown>): void {
    dialogs += 1;
    if (dialogs > MOST_DIALOGS) {
      if (dialogs === MOST_DIALOGS + 1) note('The page opened one dialog after another and was closed.');
      return tell('Target.closeTarget', { targetId: tab.targetId });
    }
    const isTaken = type === 'alert' || type === 'beforeunload';
    if (type !== 'beforeunload')
      note(
        `The page showed a dialog (${textOf(type)}), which was ${isTaken ? 'closed' : 'answered with no'}: ${JSON.stringify(textOf(message).slice(0, SAID_CHARACTERS))}`,
      );
    tell('Page.handleJavaScriptDialog', { accept: isTaken }, tab.sessionId);
  }

  const isTop = (tab: Tab, params: Readonly<Record<string, unknown>>): boolean => params['frameId'] === tab.targetId;

  function onPage(tab: Tab, method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'Page.javascriptDialogOpening') dialog(tab, params);
    else if (method === 'Page.frameStartedLoading' && isTop(tab, params)) tab.isLoading = true;
    else if (method === 'Page.frameStoppedLoading' && isTop(tab, params)) tab.isLoading = false;
  }

  return {
    current: () => tabs.find((tab) => tab.targetId === chosen),
    all: () => tabs,
    choose(index) {
      chosen = tabs[index]?.targetId ?? chosen;
      return tabs[index] !== undefined;
    },
    forgive: () => void (dialogs = 0),
    hear({ method, params, sessionId }) {
      if (method === 'Target.attachedToTarget') attached(params);
      else if (method === 'Target.detachedFromTarget' || method === 'Target.targetDestroyed')
        gone(textOf(params['targetId']));
      else if (method === 'Target.targetCrashed') {
        note('The page crashed and was closed.');
        tell('Target.closeTarget', { targetId: params['targetId'] });
        gone(textOf(params['targetId']));
      } else if (method === 'Target.targetInfoChanged') {
        const info = params['targetInfo'] as { targetId?: string; url?: string; title?: string };
        const tab = tabs.find(({ targetId }) => targetId === info.targetId);
        if (tab) Object.assign(tab, { url: textOf(info.url), title: textOf(info.title) });
      } else {
        const tab = bySession(sessionId);
        if (tab) onPage(tab, method, params);
      }
      for (const wake of waiting) wake();
    },
    next: (ms) =>
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
