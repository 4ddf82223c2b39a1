const MAX_LINE = 4 * 1024 * 1024;

/** Takes the bytes of server-sent events as they come and gives the `data` of those that are complete. */
export interface EventParser {
  /** Throws a TypeError on invalid UTF-8. */
  push: (bytes: Uint8Array) => string[];
  /** The last event, where a server leaves out the empty line after it. */
  end: () => string[];
}

export function createEventParser(): EventParser {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let data: string | undefined;

  function take(text: string): string[] {
    const found: string[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = text.slice(start, text[end - 1] === '\r' ? end - 1 : end);
      start = end + 1;
      if (line === '') {
        if (data !== undefined) found.push(data);
        data = undefined;
      } else if (line.startsWith('data:')) {
        const value = line.slice(line[5] === ' ' ? 6 : 5);
        data = data === undefined ? value : `${data}\n${value}`;
      }
    }
    rest = text.slice(start);
    if (rest.length > MAX_LINE) throw new TypeError('an event is too large');
    return found;
  }

  return {
    push: (bytes) => take(rest + decoder.decode(bytes, { stream: true })),
    end() {
      const found = take(`${rest + decoder.decode()}\n\n`);
      rest = '';
      return found;
    },
  };
}
