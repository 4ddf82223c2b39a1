import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { forget, forgetAll, keep, kept } from './keeping.ts';

/** As a browser's, as far as it is used: keys are the object's own. */
function newStore(refuses = false): Storage {
  const own: Record<string, string> = {};
  const refuse = (): never => {
    throw new DOMException('switched off', 'SecurityError');
  };
  const hidden = (value: unknown) => ({ value, enumerable: false });
  Object.defineProperties(own, {
    setItem: hidden(refuses ? refuse : (key: string, text: string) => void (own[key] = text)),
    getItem: hidden(refuses ? refuse : (key: string) => own[key] ?? null),
    removeItem: hidden(refuses ? refuse : (key: string) => void delete own[key]),
  });
  return own as unknown as Storage;
}

const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
function use(store: Storage): Storage {
  Object.defineProperty(globalThis, 'localStorage', { value: store, configurable: true, writable: true });
  return store;
}
afterEach(() => {
  if (before) Object.defineProperty(globalThis, 'localStorage', before);
  else Reflect.deleteProperty(globalThis, 'localStorage');
});

test('what is kept comes back until it is forgotten', () => {
  use(newStore());
  keep('draft:a', { text: 'שלום', list: [1] });
  assert.deepEqual(kept('draft:a'), { text: 'שלום', list: [1] });
  assert.equal(kept('draft:b'), undefined);
  forget('draft:a');
  assert.equal(kept('draft:a'), undefined);
});

test('at sign-out all of it goes, and nothing of anybody else’s', () => {
  const store = use(newStore());
  store.setItem('theme', 'dark');
  keep('draft:a', 1);
  keep('outbox:a', 2);
  forgetAll();
  assert.deepEqual([kept('draft:a'), kept('outbox:a'), store.getItem('theme')], [undefined, undefined, 'dark']);
});

test('what is broken in the store is nothing', () => {
  use(newStore()).setItem('troupe:draft:a', '{"half');
  assert.equal(kept('draft:a'), undefined);
});

test('a store that is switched off stops nobody', () => {
  use(newStore(true));
  keep('draft:a', 1);
  assert.equal(kept('draft:a'), undefined);
  forget('draft:a');
});
