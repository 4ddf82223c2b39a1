import { createExtract, createSummary, createNextTurn, readPage, type Extract, type Summary } from '@troupe/summarizer';
import { peer } from '../lib/peers.ts';

/** The same two extractions, ours and with cheerio, from the bytes of a page as they come from the network. */
export interface Side {
  summarize: (page: Buffer) => Promise<Summary>;
  extract: (page: Buffer) => Promise<Extract>;
}

const nextTurn = createNextTurn();
const URL_OF_PAGE = 'https://site.example/stories/';

async function* chunks(page: Buffer) {
  for (let from = 0; from < page.length; from += 65_536) yield page.subarray(from, from + 65_536);
}

export const ours: Side = {
  async summarize(page) {
    const summary = createSummary();
    await readPage(chunks(page), 'text/html', summary, nextTurn);
    return summary.result();
  },
  async extract(page) {
    const extract = createExtract(URL_OF_PAGE);
    await readPage(chunks(page), 'text/html', extract, nextTurn);
    return extract.result();
  },
};

interface Selection extends Iterable<unknown> {
  first: () => Selection;
  text: () => string;
  attr: (name: string) => string | undefined;
  remove: () => void;
}
type Query = (selector: unknown) => Selection;
interface Cheerio {
  load: (html: string, options?: object) => Query;
}

const collapse = (text: string) => text.replace(/\s+/g, ' ').trim();

function unique(texts: Iterable<string>, min: number, max: number, count: number): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    if (text.length >= min && text.length <= max) found.add(text);
    if (found.size >= count) break;
  }
  return [...found];
}

/** `slim`: cheerio's faster, less exact parser, which is htmlparser2. */
export async function withCheerio(slim: boolean): Promise<Side> {
  const cheerio = await peer<Cheerio>('cheerio');
  const open = async (page: Buffer) => {
    let html = '';
    const decoder = new TextDecoder();
    for await (const chunk of chunks(page)) html += decoder.decode(chunk, { stream: true });
    return cheerio.load(html, slim ? { xml: { xmlMode: false, decodeEntities: true } } : undefined);
  };
  return {
    async summarize(page) {
      const $ = await open(page);
      function* textsOf(selector: string) {
        for (const element of $(selector)) yield collapse($(element).text());
      }
      const meta = (selector: string) => $(selector).first().attr('content') ?? '';
      const result = {
        title: collapse($('title').first().text()) || collapse($('h1').first().text()),
        description: meta('meta[name="description"]') || meta('meta[property="og:description"]'),
        headings: unique(textsOf('h1, h2, h3'), 3, 199, 20),
        paragraphs: unique(textsOf('p'), 21, 1999, 10),
      };
      $('script, style, noscript, template, textarea, iframe, [hidden]').remove();
      return { ...result, wordCount: $('body').text().split(/\s+/).filter(Boolean).length };
    },
    async extract(page) {
      const $ = await open(page);
      const base = new URL($('base[href]').first().attr('href') ?? '', URL_OF_PAGE).href;
      const links = new Map<string, string>();
      for (const element of $('a[href]')) {
        if (links.size >= 50) break;
        const href = $(element).attr('href') ?? '';
        if (/^\s*(#|javascript:|mailto:|tel:|$)/i.test(href) || !URL.canParse(href, base)) continue;
        const address = new URL(href, base).href;
        if (!links.has(address)) links.set(address, (collapse($(element).text()) || address).slice(0, 100));
      }
      const images = new Map<string, string>();
      for (const element of $('img[src]')) {
        if (images.size >= 20) break;
        const src = URL.parse($(element).attr('src') ?? '', base)?.href;
        if (src !== undefined && !images.has(src))
          images.set(src, collapse($(element).attr('alt') ?? '').slice(0, 100));
      }
      const meta: Record<string, string> = {};
      for (const element of $('meta[content]')) {
        const name = $(element).attr('property') ?? $(element).attr('name') ?? '';
        if (/^(og:|twitter:|description$)/.test(name)) meta[name] ??= $(element).attr('content') ?? '';
      }
      return {
        links: [...links].map(([href, text]) => ({ href, text })),
        images: [...images].map(([src, alt]) => ({ src, alt })),
        meta,
      };
    },
  };
}
