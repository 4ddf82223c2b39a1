import { createScanner, readAttributes, type Scanner, type ScannerOptions } from './scanner.ts';
import { collapse, createCapture, cut, decodeAttribute, decodeText, type Capture } from './text.ts';

export interface Extract {
  links: { href: string; text: string }[];
  images: { src: string; alt: string }[];
  meta: Record<string, string>;
}

const MAX_LINKS = 50;
const MAX_IMAGES = 20;
const MAX_LABEL = 100;
const MAX_META = 100;
/** Addresses that are looked at: broken ones cost time and are never full. */
const MAX_ADDRESSES = 5_000;
const MAX_META_VALUE = 2_000;

const META_NAME = /^(og:|twitter:|description$)/;
const SKIPPED_LINKS = /^(javascript|mailto|tel):$/;

export interface Extractor extends Scanner {
  /** Nothing that may still come would change the result. */
  done: () => boolean;
  result: () => Extract;
}

/** `url` is where the page came from: what its relative addresses are relative to, unless it says otherwise. */
export function createExtract(url: string, options?: ScannerOptions): Extractor {
  const links = new Map<string, string>();
  const images = new Map<string, string>();
  const meta = new Map<string, string>();
  /** As written: a repeated one need not be parsed again. */
  const seen = new Set<string>();
  let base = url;
  let baseGiven = false;
  let link: { href: string; text: Capture } | undefined;
  let templates = 0;

  function endLink() {
    if (!link) return;
    links.set(link.href, cut(collapse(link.text.take()), MAX_LABEL) || cut(link.href, MAX_LABEL));
    link = undefined;
  }

  /** The absolute address, once. */
  function newAddress(raw: string | undefined, known: ReadonlyMap<string, string>, kind: string): URL | undefined {
    if (raw === undefined || seen.size >= MAX_ADDRESSES || seen.has(kind + raw)) return undefined;
    seen.add(kind + raw);
    const address = URL.parse(decodeAttribute(raw), base) ?? undefined;
    return address && !known.has(address.href) ? address : undefined;
  }

  function openLink(attributes: string) {
    endLink();
    if (links.size >= MAX_LINKS) return;
    const raw = readAttributes(attributes, ['href']).get('href')?.trim();
    if (raw === undefined || raw === '' || raw.startsWith('#')) return;
    const address = newAddress(raw, links, 'a ');
    if (!address || SKIPPED_LINKS.test(address.protocol)) return;
    link = { href: address.href, text: createCapture(MAX_LABEL) };
  }

  function addImage(attributes: string) {
    if (images.size >= MAX_IMAGES) return;
    const found = readAttributes(attributes, ['src', 'alt']);
    const address = newAddress(found.get('src')?.trim() || undefined, images, 'i ');
    // An image inside its own address is no address to hand out.
    if (!address || !/^https?:$/.test(address.protocol)) return;
    images.set(address.href, cut(collapse(decodeAttribute(found.get('alt') ?? '')), MAX_LABEL));
  }

  function addMeta(attributes: string) {
    const found = readAttributes(attributes, ['name', 'property', 'content']);
    const content = found.get('content');
    const name = [found.get('property'), found.get('name')].find((given) => META_NAME.test(given?.toLowerCase() ?? ''));
    if (name === undefined || content === undefined || meta.size >= MAX_META) return;
    const key = cut(collapse(decodeAttribute(name.toLowerCase())), MAX_LABEL);
    if (!meta.has(key)) meta.set(key, cut(collapse(decodeAttribute(content)), MAX_META_VALUE));
  }

  function setBase(attributes: string) {
    const href = readAttributes(attributes, ['href']).get('href');
    const address = href === undefined ? null : URL.parse(decodeAttribute(href), url);
    if (baseGiven || !address || !/^https?:$/.test(address.protocol)) return;
    base = address.href;
    baseGiven = true;
  }

  const scanner = createScanner(
    {
      text(raw) {
        link?.text.add(decodeText(raw));
      },
      title: () => {},
      open(name, attributes) {
        if (name === 'template') templates += 1;
        if (templates > 0) return;
        if (name === 'a') openLink(attributes);
        else if (name === 'img') addImage(attributes);
        else if (name === 'meta') addMeta(attributes);
        else if (name === 'base') setBase(attributes);
        else if (name === 'br') link?.text.add(' ');
      },
      close(name) {
        if (name === 'template' && templates > 0) templates -= 1;
        else if (name === 'a') endLink();
      },
    },
    options,
  );

  return {
    write: scanner.write,
    end() {
      scanner.end();
      endLink();
    },
    done: () => links.size >= MAX_LINKS && images.size >= MAX_IMAGES,
    result: () => ({
      links: [...links].map(([href, text]) => ({ href, text })),
      images: [...images].map(([src, alt]) => ({ src, alt })),
      meta: Object.fromEntries(meta),
    }),
  };
}
