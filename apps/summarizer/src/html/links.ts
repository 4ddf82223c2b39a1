import { createScanner, readAttributes, type Handler, type Scanner, type ScannerOptions } from './scanner.ts';
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

/** Characters of one: to read a host takes the square of its length. */
const MAX_ADDRESS = 4096;

const addressOf = (raw: string, base: string): URL | null =>
  raw.length > MAX_ADDRESS ? null : URL.parse(decodeAttribute(raw), base);

const META_NAME = /^(og:|twitter:|description$)/;
const SKIPPED_LINKS = /^(javascript|mailto|tel):$/;

export interface Extractor extends Scanner {
  /** Nothing that may still come would change the result. */
  done: () => boolean;
  result: () => Extract;
}

class LinkExtract implements Extractor, Handler {
  readonly #url: string;
  readonly #links = new Map<string, string>();
  readonly #images = new Map<string, string>();
  readonly #meta = new Map<string, string>();
  /** As written: a repeated one need not be parsed again. */
  readonly #seen = new Set<string>();
  #base: string;
  #baseGiven = false;
  #link: { href: string; text: Capture } | undefined;
  #templates = 0;
  readonly #scanner: Scanner;

  constructor(url: string, options?: ScannerOptions) {
    this.#url = url;
    this.#base = url;
    this.#scanner = createScanner(this, options);
  }

  write(piece: string): void {
    this.#scanner.write(piece);
  }

  text(raw: string): void {
    this.#link?.text.add(decodeText(raw));
  }

  title(): void {}

  open(name: string, attributes: string): void {
    if (name === 'template') this.#templates += 1;
    if (this.#templates > 0) return;
    if (name === 'a') this.#openLink(attributes);
    else if (name === 'img') this.#addImage(attributes);
    else if (name === 'meta') this.#addMeta(attributes);
    else if (name === 'base') this.#setBase(attributes);
    else if (name === 'br') this.#link?.text.add(' ');
  }

  close(name: string): void {
    if (name === 'template' && this.#templates > 0) this.#templates -= 1;
    else if (name === 'a') this.#endLink();
  }

  end(): void {
    this.#scanner.end();
    this.#endLink();
  }

  done(): boolean {
    return this.#links.size >= MAX_LINKS && this.#images.size >= MAX_IMAGES;
  }

  result(): Extract {
    return {
      links: [...this.#links].map(([href, text]) => ({ href, text })),
      images: [...this.#images].map(([src, alt]) => ({ src, alt })),
      meta: Object.fromEntries(this.#meta),
    };
  }

  #endLink(): void {
    if (!this.#link) return;
    this.#links.set(
      this.#link.href,
      cut(collapse(this.#link.text.take()), MAX_LABEL) || cut(this.#link.href, MAX_LABEL),
    );
    this.#link = undefined;
  }

  /** The absolute address, once. */
  #newAddress(raw: string | undefined, known: ReadonlyMap<string, string>, kind: string): URL | undefined {
    if (raw === undefined || this.#seen.size >= MAX_ADDRESSES || this.#seen.has(kind + raw)) return undefined;
    this.#seen.add(kind + raw);
    const address = addressOf(raw, this.#base) ?? undefined;
    return address && !known.has(address.href) ? address : undefined;
  }

  #openLink(attributes: string): void {
    this.#endLink();
    if (this.#links.size >= MAX_LINKS) return;
    const raw = readAttributes(attributes, ['href']).get('href')?.trim();
    if (raw === undefined || raw === '' || raw.startsWith('#')) return;
    const address = this.#newAddress(raw, this.#links, 'a ');
    if (!address || SKIPPED_LINKS.test(address.protocol)) return;
    this.#link = { href: address.href, text: createCapture(MAX_LABEL) };
  }

  #addImage(attributes: string): void {
    if (this.#images.size >= MAX_IMAGES) return;
    const found = readAttributes(attributes, ['src', 'alt']);
    const address = this.#newAddress(found.get('src')?.trim() || undefined, this.#images, 'i ');
    // An image inside its own address is no address to hand out.
    if (!address || !/^https?:$/.test(address.protocol)) return;
    this.#images.set(address.href, cut(collapse(decodeAttribute(found.get('alt') ?? '')), MAX_LABEL));
  }

  #addMeta(attributes: string): void {
    const found = readAttributes(attributes, ['name', 'property', 'content']);
    const content = found.get('content');
    const name = [found.get('property'), found.get('name')].find((given) => META_NAME.test(given?.toLowerCase() ?? ''));
    if (name === undefined || content === undefined || this.#meta.size >= MAX_META) return;
    const key = cut(collapse(decodeAttribute(name.toLowerCase())), MAX_LABEL);
    if (!this.#meta.has(key)) this.#meta.set(key, cut(collapse(decodeAttribute(content)), MAX_META_VALUE));
  }

  #setBase(attributes: string): void {
    const href = readAttributes(attributes, ['href']).get('href');
    const address = href === undefined ? null : addressOf(href, this.#url);
    if (this.#baseGiven || !address || !/^https?:$/.test(address.protocol)) return;
    this.#base = address.href;
    this.#baseGiven = true;
  }
}

/** `url` is where the page came from: what its relative addresses are relative to, unless it says otherwise. */
export const createExtract = (url: string, options?: ScannerOptions): Extractor => new LinkExtract(url, options);
