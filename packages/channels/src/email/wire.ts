import type { Socket } from 'node:net';
import { createPieceCount, Gathered, secured, type Outbound } from '@troupe/kernel';
import { Trouble } from '../errors.ts';

/** A connection that is spoken over in lines, as mail servers do; blocks of bytes come in between. */

export interface MailServer {
  host: string;
  port: number;
  /** `none` is for servers of the own network: names and passwords go over it as they are. */
  security: 'tls' | 'starttls' | 'none';
}

const MAX_LINE = 64 * 1024;
const REPLY_MS = 30_000;

const GONE = 'The mail server ended the connection';

export class Wire {
  #socket: Socket;
  readonly #came = new Gathered();
  /** Since we last said something. */
  #count = createPieceCount();
  #ended = false;
  #why = GONE;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#hear();
  }

  static async open(outbound: Outbound, { host, port, security }: MailServer): Promise<Wire> {
    return new Wire(await outbound.connect({ host, port, tls: security === 'tls' }));
  }

  #hear(): void {
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    this.#socket
      .on('data', (chunk: Buffer) => {
        this.#came.add(chunk);
        if (!this.#count(chunk.length)) {
          this.#why = 'The mail server sends too many small pieces';
          return void this.#socket.destroy();
        }
        // Whoever reads lets more come in.
        if (this.#came.length > MAX_LINE) this.#socket.pause();
        this.#wake?.();
      })
      .on('error', end)
      .on('close', end);
  }

  /** What came before it in the clear does not count. */
  async secure(host: string): Promise<void> {
    this.#socket.removeAllListeners('data').removeAllListeners('error').removeAllListeners('close');
    this.#came.take();
    this.#socket = await secured(this.#socket, host);
    this.#hear();
  }

  write(bytes: string | Uint8Array): void {
    this.#count = createPieceCount();
    if (!this.#ended) this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** A line without its end; undefined: none came in that time. */
  async line(waitMs = REPLY_MS): Promise<string | undefined> {
    const until = Date.now() + waitMs;
    for (;;) {
      const all = this.#came.take();
      const end = all.indexOf(10);
      this.#came.add(end < 0 ? all : all.subarray(end + 1));
      if (end > MAX_LINE || (end < 0 && all.length > MAX_LINE))
        throw new Trouble('The mail server sent a line without end');
      if (end >= 0) return all.subarray(0, all[end - 1] === 13 ? end - 1 : end).toString('utf8');
      if (!(await this.#more(until - Date.now()))) return undefined;
    }
  }

  /** A line that has to come. */
  async reply(): Promise<string> {
    const line = await this.line();
    if (line === undefined) throw new Trouble('The mail server did not answer in time');
    return line;
  }

  async bytes(count: number): Promise<Buffer> {
    while (this.#came.length < count)
      if (!(await this.#more(REPLY_MS))) throw new Trouble('The mail server did not answer in time');
    const all = this.#came.take();
    this.#came.add(all.subarray(count));
    return all.subarray(0, count);
  }

  /** False: nothing came. */
  async #more(waitMs: number): Promise<boolean> {
    if (this.#ended) throw new Trouble(this.#why);
    if (waitMs <= 0) return false;
    const before = this.#came.length;
    const news = Promise.withResolvers<void>();
    this.#wake = news.resolve;
    const timer = setTimeout(news.resolve, waitMs);
    this.#socket.resume();
    await news.promise;
    clearTimeout(timer);
    this.#wake = undefined;
    if (this.#came.length > before) return true;
    if (this.#ended) throw new Trouble(this.#why);
    return false;
  }
}
