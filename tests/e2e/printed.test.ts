import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { constants, inflateSync } from 'node:zlib';
import { pdfPages } from '@troupe/knowledge/pdf';
import { needs } from '@troupe/testing/machine/needs';
import { borrowBrowser, closePages, giveBack } from './shared-browser.ts';

const CONTRACT = `<!doctype html><html lang="de"><meta charset="utf-8"><title>Mietvertrag</title>
<h1>Mietvertrag für die Möwenstraße</h1>
<p>Die Miete beträgt 900 € im Monat. Größe: 40 m<sup>2</sup>, ein Gefäß H<sub>2</sub>O. An office waffle, „süß“ – Ελληνικά, Русский.</p>
<p style="text-align:justify;width:200px">Ein langer Absatz, der über mehrere Zeilen geht, damit Abstände zwischen Wörtern wachsen.</p>
<p style="width:170px">Donaudampfschifffahrts&shy;gesellschaft</p>
<table><tr><th>Monat<th>Miete<th>Bemerkung<tr><td>Mai<td style="text-align:right">1.900,00<td>bezahlt<tr><td>Juni<td style="text-align:right">950,00<td>überfällig</table>
<p><b>fett</b>gedruckt, <i>kursiv</i> und <code>mono 123</code></p>
<div style="break-before:page"><h2>Schlußwort</h2><ul><li>Äpfel<li>Öl</ul></div>`;

// Fonts of two bytes a letter with tables of what they mean, and lines that stand where the program puts them.
describe('a PDF that a browser has printed', { skip: needs('chromium') }, () => {
  for (const [name, options] of Object.entries({
    'as it is': {},
    'with tags, across and smaller': { tagged: true, outline: true, landscape: true, scale: 0.7 },
  }))
    test(`is read ${name}: umlauts, ligatures, a table by its rows, two pages`, async () => {
      const browser = await borrowBrowser();
      try {
        const page = await browser.newPage();
        await page.setContent(CONTRACT);
        const file = await page.pdf({ format: 'A4', ...options });
        const inflate = (packed: Buffer, room: number): Buffer =>
          inflateSync(packed, { maxOutputLength: Math.max(1, room), finishFlush: constants.Z_SYNC_FLUSH });
        const { pages, more, locked } = pdfPages(file, inflate, 100_000);
        assert.deepEqual([pages.length, more, locked], [2, false, false]);
        const words = pages[0]!.replaceAll('\n', ' ');
        for (const said of [
          'Mietvertrag für die Möwenstraße Die Miete beträgt 900 € im Monat. Größe: 40 m2, ein Gefäß H2O.',
          'An office waffle, „süß“ – Ελληνικά, Русский.',
          'Ein langer Absatz, der über mehrere Zeilen geht, damit Abstände zwischen Wörtern wachsen.',
          'Donaudampfschifffahrtsgesellschaft',
          'fettgedruckt, kursiv und mono 123',
        ])
          assert.ok(words.includes(said), `${said}: ${words}`);
        assert.match(pages[0]!, /^Monat Miete Bemerkung\nMai 1\.900,00 bezahlt\nJuni 950,00 überfällig$/m);
        assert.match(pages[1]!, /^Schlußwort\n(?:• ?)?Äpfel\n(?:• ?)?Öl$/);
      } finally {
        await closePages(browser);
        giveBack();
      }
    });
});
