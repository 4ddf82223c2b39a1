import { createTalk, type Talk } from './talk.ts';
import { createView } from './view.ts';

/** What a page of somebody else's loads: a chat with an agent, in a corner or, on our own page, all over it. */

const { currentScript } = document;
const script = currentScript instanceof HTMLScriptElement ? currentScript : undefined;
const key = script?.dataset['key'] ?? '';

/** Pages may keep scripts from storing anything. */
const kept = {
  read: (): string | undefined => {
    try {
      return localStorage.getItem(`troupe-${key}`) ?? undefined;
    } catch {
      return undefined;
    }
  },
  write: (token: string): void => {
    try {
      localStorage.setItem(`troupe-${key}`, token);
    } catch {
      // The visitor is somebody new on the next page.
    }
  },
};

async function start(base: string, isPage: boolean): Promise<void> {
  const talk: Talk = createTalk({ base, key, kept });
  const visit = await talk.visit();
  createView({ key, isPage, visit, talk });
}

if (script && key !== '' && !document.querySelector(`troupe-widget[data-key="${CSS.escape(key)}"]`)) {
  const go = (): void => {
    start(new URL(script.src).origin, 'page' in script.dataset).catch((error: unknown) => {
      // A site is better without a chat than with a broken one; whoever set it up reads why.
      console.warn(`Chat: ${error instanceof Error ? error.message : String(error)}`);
    });
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', go, { once: true });
  else go();
}
