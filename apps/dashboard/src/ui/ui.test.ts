import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BOTTOM, HEIGHT, LEFT, niceTop, scaleOf } from './chart-scale.ts';
import { colourCode } from './code-colours.ts';
import { cx } from './cx.ts';
import { orderAfter, rowsShown } from './table-rows.ts';

describe('the scale of a chart', () => {
  test('ends at the next round number', () => {
    assert.deepEqual([1, 0.7, 1.2, 42, 99, 100, 1234].map(niceTop), [1, 0.8, 1.5, 50, 100, 100, 1500]);
    for (const odd of [0, -5, Number.NaN, Infinity]) assert.equal(niceTop(odd), 1);
  });

  test('places a value between the ground and the top, whatever it is', () => {
    const { y, top } = scaleOf([3, 8], 640);
    const ground = HEIGHT - BOTTOM;
    assert.equal(top, 8);
    assert.equal(y(0), ground);
    assert.ok(y(8) < y(3) && y(3) < ground);
    for (const odd of [-5, Number.NaN]) assert.equal(y(odd), ground);
    assert.equal(y(1e9), y(8));
  });

  test('fits the bars into the width, few or many', () => {
    for (const count of [1, 2, 30, 5000]) {
      const { step, bar } = scaleOf(
        Array.from({ length: count }, () => 1),
        640,
      );
      assert.ok(bar > 0 && bar <= step && bar <= 46);
      assert.ok(Math.abs(LEFT + count * step - 640) < 1e-6);
    }
    const empty = scaleOf([], 640);
    assert.deepEqual([empty.top, Number.isFinite(empty.step)], [1, true]);
  });

  test('takes a hundred thousand values', () => {
    assert.equal(
      scaleOf(
        Array.from({ length: 100_000 }, (_, index) => index),
        640,
      ).top,
      100_000,
    );
  });

  test('labels have room, and the last one never sticks out', () => {
    const wide = scaleOf([1, 2], 640);
    assert.equal(wide.labelAt(1)?.anchor, 'middle');
    const many = scaleOf(
      Array.from({ length: 60 }, () => 1),
      640,
    );
    assert.deepEqual(many.labelAt(59), { x: 640, anchor: 'end' });
    assert.equal(many.labelAt(58), undefined);
    const shown = Array.from({ length: 60 }, (_, index) => many.labelAt(index)).filter((label) => label !== undefined);
    for (const [index, label] of shown.entries()) if (index > 0) assert.ok(label.x - shown[index - 1]!.x >= 50);
  });
});

describe('the rows of a table', () => {
  interface Row {
    name: string;
    size: number;
  }
  const rows: Row[] = [
    { name: 'beta', size: 2 },
    { name: 'Alpha', size: 10 },
    { name: 'שלום', size: 1 },
  ];
  const columns = [
    { key: 'name', sort: ({ name }: Row) => name },
    { key: 'size', sort: ({ size }: Row) => size },
    { key: 'plain' },
  ];
  const find = ({ name }: Row) => name;
  const shown = (filter: string, order?: { key: string; down: boolean }) =>
    rowsShown(rows, { filter, find, columns, order }).map(({ name }) => name);

  test('are found by what is typed, in any case and script', () => {
    assert.deepEqual(shown('  ALP '), ['Alpha']);
    assert.deepEqual(shown('שלו'), ['שלום']);
    assert.deepEqual(shown('-'.repeat(2000)), []);
    assert.deepEqual(shown('.*'), []);
    assert.equal(rowsShown(rows, { filter: 'alp', find: undefined, columns, order: undefined }).length, 3);
  });

  test('are sorted as numbers or as words, and stay as they are where nothing can be sorted by', () => {
    assert.deepEqual(shown('', { key: 'size', down: false }), ['שלום', 'beta', 'Alpha']);
    assert.deepEqual(shown('', { key: 'size', down: true }), ['Alpha', 'beta', 'שלום']);
    assert.deepEqual(shown('', { key: 'name', down: false }).slice(0, 2), ['Alpha', 'beta']);
    for (const key of ['plain', 'gone']) assert.deepEqual(shown('', { key, down: true }), ['beta', 'Alpha', 'שלום']);
  });

  test('that were given are not moved', () => {
    shown('', { key: 'size', down: true });
    assert.equal(rows[0]!.name, 'beta');
  });

  test('are turned by a second click, and begin with the largest where figures stand', () => {
    const first = orderAfter(undefined, 'size', true);
    assert.deepEqual(first, { key: 'size', down: true });
    assert.deepEqual(orderAfter(first, 'size', true), { key: 'size', down: false });
    assert.deepEqual(orderAfter(first, 'name', false), { key: 'name', down: false });
  });
});

describe('colours of code', () => {
  const kinds = (text: string, language = 'ts') =>
    colourCode(text, language).map(({ kind, text: part }) => `${kind}:${part}`);
  const whole = (text: string, language = 'ts') =>
    colourCode(text, language)
      .map((part) => part.text)
      .join('');

  test('tell words, texts, numbers and comments apart', () => {
    assert.deepEqual(kinds('const a = 1 // one'), [
      'word:const',
      'plain: a = ',
      'number:1',
      'plain: ',
      'comment:// one',
    ]);
    assert.deepEqual(kinds('"a\\"b" \'c\''), ['text:"a\\"b"', 'plain: ', "text:'c'"]);
    assert.deepEqual(kinds('/* a\nb */x'), ['comment:/* a\nb */', 'plain:x']);
  });

  test('a hash is a comment only where it is one', () => {
    assert.deepEqual(kinds('# hi', 'Python'), ['comment:# hi']);
    assert.deepEqual(kinds('#hi', 'ts'), ['plain:#hi']);
  });

  test('lose and add no character, whatever is written', () => {
    const odd = ['-'.repeat(2000), '"'.repeat(2001), "'\\", '`\n\n', '/*', '//', '\\', 'שלום "مرحبا" 🙂', ''];
    for (const text of odd) assert.equal(whole(text), text);
  });

  test('are at most so many, however long it is', () => {
    const long = 'if 1 '.repeat(50_000);
    assert.ok(colourCode(long, 'ts').length <= 3001);
    assert.equal(whole(long), long);
  });
});

test('names of classes are put together, and nothing else', () => {
  assert.equal(cx('a', false, undefined, '', 'b'), 'a b');
});
