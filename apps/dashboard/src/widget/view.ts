import { sheetFor } from './styles.ts';
import type { Answerer, Heard, Talk, Visit } from './talk.ts';
import { nodesOf } from './words.ts';

/** What a visitor sees, in a shadow root: styles of the page do not reach in, and ours do not reach out. */

interface ViewDeps {
  key: string;
  isPage: boolean;
  visit: Visit;
  talk: Talk;
}

const SVG = 'http://www.w3.org/2000/svg';
const BUBBLE = 'M4 4h18a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H11l-6 5v-5H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z';
const MOST_CHARACTERS = 4000;
/** Where a page is not served over TLS there is nothing better. */
const newId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
const TYPING = 'An answer is being written …';

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  given: Partial<Record<'className' | 'textContent', string>> & Record<string, string> = {},
): HTMLElementTagNameMap[K] {
  const { className = '', textContent = '', ...attributes } = given;
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  if (textContent !== '') made.textContent = textContent;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

function icon(): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  svg.setAttribute('viewBox', '0 0 26 26');
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', BUBBLE);
  svg.append(path);
  return svg;
}

function layOut({ isPage, visit: { theme, handsOver } }: ViewDeps) {
  const open = make('button', {
    className: 'open',
    type: 'button',
    'aria-label': theme.title,
    'aria-expanded': 'false',
  });
  open.append(icon());
  const role = isPage ? 'main' : 'dialog';
  const panel = make('section', { className: isPage ? 'panel page' : 'panel', role, 'aria-label': theme.title });
  const close = make('button', { type: 'button', textContent: '✕', 'aria-label': 'Close' });
  const header = make('header');
  header.append(make(isPage ? 'h1' : 'h2', { textContent: theme.title }), ...(isPage ? [] : [close]));
  // With the focus it is moved by keys.
  const log = make('div', {
    className: 'log',
    role: 'log',
    'aria-live': 'polite',
    'aria-label': 'Conversation',
    tabindex: '0',
  });
  const hint = make('p', { className: 'hint', role: 'status' });
  const form = make('form');
  const field = make('textarea', {
    rows: '1',
    maxlength: String(MOST_CHARACTERS),
    'aria-label': 'Message',
    placeholder: 'Write a message',
  });
  const send = make('button', { type: 'submit', textContent: 'Send' });
  form.append(field, send);
  const foot = make('div', { className: 'foot' });
  const person = make('button', { type: 'button', textContent: 'Talk to a person' });
  if (handsOver) foot.append(person);
  panel.append(header, log, hint, form, foot);
  panel.hidden = !isPage;
  open.hidden = isPage;
  return { open, panel, close, log, hint, form, field, send, person };
}

type Parts = ReturnType<typeof layOut>;

/** The words of the conversation. */
function createLog({ log }: Parts, greeting: string) {
  let live: HTMLParagraphElement | undefined;
  let isPlaceholder = true;

  function add(role: string, text: string, isSent = true): HTMLParagraphElement {
    const line = make('p', { className: role });
    if (role === 'visitor') line.textContent = text;
    else line.append(...nodesOf(text));
    if (!isSent) line.dataset['sending'] = text;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    log.append(line);
    if (isAtEnd || role === 'visitor') log.scrollTop = log.scrollHeight;
    return line;
  }
  const sending = (): HTMLElement[] => [...log.querySelectorAll<HTMLElement>('[data-sending]')];

  add('agent', greeting);
  return {
    add,
    /** From the beginning: what is on its way stays. */
    anew(): void {
      if (!isPlaceholder) log.replaceChildren(...sending());
      else log.firstElementChild?.remove();
      isPlaceholder = false;
      live = undefined;
    },
    message(role: string, text: string): void {
      live?.remove();
      live = undefined;
      const own = role === 'visitor' ? sending().find((line) => line.dataset['sending'] === text) : undefined;
      if (own) delete own.dataset['sending'];
      else {
        const line = add(role, text);
        // What is on its way comes after what is there.
        line.after(...sending());
      }
    },
    delta(text: string, fresh: boolean): void {
      if (fresh && live) live.textContent = '';
      live ??= add('agent', '');
      live.textContent += text;
      log.scrollTop = log.scrollHeight;
    },
    endLive(): void {
      live?.remove();
      live = undefined;
    },
  };
}

function createHeard(
  parts: Parts,
  words: ReturnType<typeof createLog>,
  told: { busy: (isBusy: boolean) => void; state: (state: Answerer) => void; news: () => void },
): Heard {
  const { hint, field, send, person } = parts;
  return {
    message(role, text) {
      words.message(role, text);
      if (role === 'agent' || role === 'person') told.news();
    },
    delta(text, fresh) {
      hint.textContent = '';
      words.delta(text, fresh);
    },
    end(text) {
      words.endLive();
      told.busy(false);
      if (text) words.add('notice', text);
    },
    waits: (text) => void (hint.textContent = text),
    state: told.state,
    closed(text) {
      words.add('notice', text);
      told.busy(false);
      for (const part of [field, send, person]) part.disabled = true;
    },
    anew: () => words.anew(),
  };
}

/** Who answers, whether somebody does, and what follows from it. */
function createMood({ hint, panel, open, person }: Parts, { visit, talk }: ViewDeps) {
  let state: Answerer = visit.state;
  let isBusy = false;
  const told = {
    answerer: () => state,
    isQuiet: () => !isBusy && state === 'agent',
    busy(now: boolean): void {
      isBusy = now;
      hint.textContent = now && state === 'agent' ? TYPING : '';
      if (panel.hidden && told.isQuiet()) talk.stop();
    },
    state(now: Answerer): void {
      state = now;
      person.hidden = now !== 'agent';
      if (now !== 'agent') told.busy(false);
    },
    news: (): void => void (panel.hidden && open.classList.add('news')),
  };
  told.state(state);
  return told;
}

interface Sending {
  parts: Parts;
  words: ReturnType<typeof createLog>;
  told: ReturnType<typeof createMood>;
  talk: Talk;
  /** There is a conversation to follow now. */
  begun: () => void;
}

async function submit({ parts: { field, send, hint }, words, told, talk, begun }: Sending): Promise<void> {
  const text = field.value.trim();
  if (text === '' || send.disabled) return;
  send.disabled = true;
  const line = words.add('visitor', text, false);
  field.value = '';
  told.busy(true);
  try {
    const instead = await talk.say(text, newId());
    if (instead !== null) {
      delete line.dataset['sending'];
      words.add('notice', instead);
    } else begun();
    if (instead !== null || told.answerer() !== 'agent') told.busy(false);
  } catch (error) {
    line.remove();
    // What was written is there to be sent again.
    if (field.value === '') field.value = text;
    told.busy(false);
    hint.textContent = error instanceof Error ? error.message : String(error);
  }
  send.disabled = false;
}

function askForPerson({ parts: { person, hint }, told, talk, begun }: Sending): void {
  person.disabled = true;
  talk
    .handOver()
    .then((now) => {
      told.state(now);
      begun();
    })
    .catch((error: Error) => void (hint.textContent = error.message))
    .finally(() => void (person.disabled = false));
}

export function createView(deps: ViewDeps): void {
  const { key, isPage, visit, talk } = deps;
  const host = make('troupe-widget' as 'div', { 'data-key': key });
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [sheetFor(visit.theme)];
  const parts = layOut(deps);
  const { open, panel, close, form, field, person } = parts;
  root.append(open, panel);
  document.body.append(host);

  const words = createLog(parts, visit.theme.greeting);
  const told = createMood(parts, deps);
  const heard = createHeard(parts, words, told);
  let { hasTalked } = visit;
  const follow = (): void => void (hasTalked && talk.listen(heard));
  const begun = (): void => {
    hasTalked = true;
    follow();
  };
  const sending: Sending = { parts, words, told, talk, begun };

  const show = (isShown: boolean): void => {
    panel.hidden = !isShown;
    open.setAttribute('aria-expanded', String(isShown));
    open.classList.remove('news');
    (isShown ? field : open).focus();
    if (isShown) follow();
    else if (told.isQuiet()) talk.stop();
  };
  open.addEventListener('click', () => show(panel.hidden !== false));
  close.addEventListener('click', () => show(false));
  person.addEventListener('click', () => askForPerson(sending));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(sending);
  });
  panel.addEventListener('keydown', (event) => {
    // Keys of the page are not meant here.
    event.stopPropagation();
    if (event.key === 'Escape' && !isPage) show(false);
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.target !== field) return;
    // A thumb has no Shift to break a line with: the button sends there.
    if (matchMedia('(pointer: coarse)').matches && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    void submit(sending);
  });
  if (isPage) follow();
}
