/** Server-sent events as they come over the wire; runs in services and browsers alike. */

/** Of one event; a server that sends more has another mistake. */
const MAX_LINE = 4 * 1024 * 1024;
const SPACE = 32;
const RETURN = 13;

/**
 * @typedef {import('./index.d.mts').SentEvent} SentEvent
 * @typedef {import('./index.d.mts').EventReader} EventReader
 */

/**
 * What has come of a line that is not complete. It is put together once: who sends a long line byte by byte would have it
 * looked through again with each.
 */
function createRest() {
  /** @type {string[]} */
  let pieces = [];
  let length = 0;
  return {
    length: () => length,
    /** @param {string} piece */
    keep(piece) {
      if (piece !== '') pieces.push(piece);
      length += piece.length;
    },
    /**
     * All of it, which is then no longer kept, with what came after it.
     * @param {string} came
     */
    with(came) {
      const text = pieces.length === 0 ? came : pieces.join('') + came;
      pieces = [];
      length = 0;
      return text;
    },
  };
}

/**
 * What stands behind the colon.
 * @param {string} text
 * @param {number} from
 * @param {number} to
 */
const valueIn = (text, from, to) => text.slice(text.charCodeAt(from) === SPACE ? from + 1 : from, to);

/**
 * Takes bytes as they come and gives the events that are complete.
 * @returns {EventReader}
 */
export function createEventReader() {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const rest = createRest();
  /** @type {string | undefined} */
  let data;
  let event = 'message';
  /** @type {string | undefined} */
  let id;

  /**
   * A line of the text. Only its value is cut out: an answer has one for each word.
   * @param {string} text
   * @param {number} from
   * @param {number} to
   */
  function field(text, from, to) {
    // By hand: for a pattern a line ends at U+2028, too, which an answer may hold.
    if (text.startsWith('data:', from)) {
      const value = valueIn(text, from + 5, to);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (text.startsWith('event:', from)) event = valueIn(text, from + 6, to);
    else if (text.startsWith('id:', from)) id = valueIn(text, from + 3, to);
  }

  /** @param {string} came */
  function take(came) {
    /** @type {SentEvent[]} */
    const found = [];
    const text = came.includes('\n') ? rest.with(came) : '';
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const from = start;
      const to = text.charCodeAt(end - 1) === RETURN ? end - 1 : end;
      start = end + 1;
      if (to > from) {
        field(text, from, to);
        continue;
      }
      if (data !== undefined) found.push(id === undefined ? { event, data } : { id, event, data });
      data = undefined;
      id = undefined;
      event = 'message';
    }
    rest.keep(text === '' ? came : text.slice(start));
    if (rest.length() > MAX_LINE || (data?.length ?? 0) > MAX_LINE) throw new TypeError('an event is too large');
    return found;
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(`${decoder.decode()}\n\n`),
  };
}

/**
 * The events of an answer, one by one. Who stops early lets go of the answer.
 * @param {Pick<Response, 'body'>} response
 * @returns {AsyncGenerator<SentEvent>}
 */
export async function* eventsOf({ body }) {
  if (!body) return;
  const events = createEventReader();
  // Not every browser can iterate over a stream.
  const reader = body.getReader();
  /** @type {SentEvent[]} */
  const found = [];
  // Apart: whoever waits for more keeps what its variables held last, of each stream that is open.
  const more = async () => {
    const { done, value } = await reader.read();
    found.push(...(done ? events.end() : events.push(value)));
    return !done;
  };
  try {
    for (let isOpen = true; isOpen;) {
      isOpen = await more();
      for (let next = found.shift(); next; next = found.shift()) yield next;
    }
  } finally {
    await reader.cancel();
  }
}
