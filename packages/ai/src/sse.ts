const MAX_LINE = 4 * 1024 * 1024;

/** The `data` of each server-sent event. Throws a TypeError on invalid UTF-8. */
export async function* eventData(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let data: string | undefined;
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    if (rest.length > MAX_LINE) throw new TypeError('an event is too large');
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line === '') {
        if (data !== undefined) yield data;
        data = undefined;
      } else if (line.startsWith('data:')) {
        const value = line.slice(line[5] === ' ' ? 6 : 5);
        data = data === undefined ? value : `${data}\n${value}`;
      }
    }
  }
  rest += decoder.decode();
  // Some servers leave out the empty line after the last event.
  if (rest.startsWith('data:')) yield rest.slice(5).trim();
  else if (data !== undefined) yield data;
}
