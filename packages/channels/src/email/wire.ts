import type { Socket } from 'node:net';
import { secured, type Outbound } from '@troupe/kernel';
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

const gone = (): Trouble => new Trouble('The mail server ended the connection');

export class Wire {
  #socket: Socket;
  #chunks: Buffer[] = [];
  #size = 0;
  #ended = false;
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
        this.#chunks.push(chunk);
        this.#size += chunk.length;
        // Whoever reads lets more come in.
        if (this.#size > MAX_LINE) this.#socket.pause();
        this.#wake?.();
      })
      .on('error', end)
      .on('close', end);
  }

  /** What came before it in the clear does not count. */
  async secure(host: string): Promise<void> {
    this.#socket.removeAllListeners('data').removeAllListeners('error').removeAllListeners('close');
    this.#chunks = [];
    this.#size = 0;
    this.#socket = await secured(this.#socket, host);
    this.#hear();
  }

  write(bytes: string | Uint8Array): void {
    if (!this.#ended) this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** A line without its end; undefined: none came in that time. */
  async line(waitMs = REPLY_MS): Promise<string | undefined> {
    const until = Date.now() + waitMs;
    for (;;) {
      const all = this.#whole();
      this.#chunks = all.length === 0 ? [] : [all];
      const end = all.indexOf(10);
      if (end > MAX_LINE || (end < 0 && all.length > MAX_LINE))
        throw new Trouble('The mail server sent a line without end');
      if (end >= 0) {
        this.#chunks = [all.subarray(end + 1)];
        this.#size = all.length - end - 1;
        return all.subarray(0, all[end - 1] === 13 ? end - 1 : end).toString('utf8');
      }
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
    while (this.#size < count)
      if (!(await this.#more(REPLY_MS))) throw new Trouble('The mail server did not answer in time');
    const all = this.#whole();
    this.#chunks = [all.subarray(count)];
    this.#size = all.length - count;
    return all.subarray(0, count);
  }

  /** All that is here; what is one piece is not copied for each that is read of it. */
  #whole(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }

  /** False: nothing came. */
  async #more(waitMs: number): Promise<boolean> {
    if (this.#ended) throw gone();
    if (waitMs <= 0) return false;
    const before = this.#size;
    const news = Promise.withResolvers<void>();
    this.#wake = news.resolve;
    const timer = setTimeout(news.resolve, waitMs);
    this.#socket.resume();
    await news.promise;
    clearTimeout(timer);
    this.#wake = undefined;
    if (this.#size > before) return true;
    if (this.#ended) throw gone();
    return false;
  }
}
