import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { PUBLIC_PAGES } from '@troupe/contract';
import { PUBLIC, SHARED, SIGNED_IN } from './pages.ts';
import { BOTTOM, NAV, NAV_BELOW, PARTS, placeOf } from './shell/nav.ts';

const places = [...NAV, ...NAV_BELOW].flatMap(({ items }) => items.map(({ to }) => to));
const pages = SIGNED_IN.map(([to]) => to);

test('everything that the navigation leads to is a page', () => {
  for (const to of [...places, ...PARTS.map((part) => part.to)]) assert.ok(pages.includes(to), to);
  for (const label of BOTTOM)
    assert.ok(
      NAV.some((place) => place.label === label),
      label,
    );
});

test('an address lies in one place, with what is below it', () => {
  const at = (path: string) => {
    const { place, item } = placeOf(path);
    return [place?.label, item?.to];
  };
  assert.deepEqual(at('/dashboard'), ['Overview', '/dashboard']);
  assert.deepEqual(at('/dashboard/'), ['Overview', '/dashboard']);
  assert.deepEqual(at('/dashboard/agents'), ['Agents', '/dashboard/agents']);
  assert.deepEqual(at('/dashboard/agents/some-id'), ['Agents', undefined]);
  assert.deepEqual(at('/dashboard/runs/one/compare/two'), ['Agents', undefined]);
  assert.deepEqual(at('/dashboard/wallet'), ['Money', '/dashboard/wallet']);
  assert.deepEqual(at('/dashboard/agentsandmore'), [undefined, undefined]);
  assert.deepEqual(at('/dashboard/authorize'), [undefined, undefined]);
});

test('every page that needs no id is in the navigation, but those that others lead to', () => {
  const ledTo = ['/dashboard/agents/new', '/dashboard/authorize'];
  assert.deepEqual(
    pages.filter((to) => !to.includes('$') && !places.includes(to)),
    ledTo,
  );
});

test('no page stands twice', () => {
  assert.equal(new Set(pages).size, pages.length);
  assert.equal(new Set(places).size, places.length);
});

test('the public pages are those of the contract', () => {
  assert.deepEqual(Object.keys(PUBLIC).sort(), [...PUBLIC_PAGES].sort());
});

test('each page has its file', () => {
  const loads = [...Object.values(PUBLIC), SHARED[1], ...SIGNED_IN.map(([, load]) => load)];
  for (const load of loads) {
    const file = /import\('([^']+)'\)/.exec(load.toString())?.[1];
    assert.ok(file && existsSync(path.join(import.meta.dirname, file)), load.toString());
  }
});
