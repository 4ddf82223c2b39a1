import { ADDRESS_LENGTH } from '@troupe/domain';

/** A stream of server-sent events before the library reads it: it may be made of nothing but brackets or line ends. */

const QUOTE = 34;
const BACKSLASH = 92;
const LINE_FEED = 10;
const RETURN = 13;
/** `[`, `{` and `:`: what takes long to make. */
const PARTS = new Set([91, 123, 58]);

/** A stream that breaks a bound of ours. Whatever else becomes of a connection is for the library to mend. */
export class StreamFault extends Error {}

/** What is said in so long: for each line that it does not know the library makes an error. */
const WINDOW_MS = 10_000;
const MAX_LINES = 2_000;

function createLineCount(): () => void {
  let window = { until: 0, lines: 0 };
  return () => {
    if (Date.now() >= window.until) window = { until: Date.now() + WINDOW_MS, lines: 0 };
    if (++window.lines > MAX_LINES)
      throw new StreamFault(`the server said more than ${MAX_LINES} lines in ${WINDOW_MS / 1000} s`);
  };
}

/** Counts lines, and what the JSON of each event has; throws at one too many. Texts do not count. */
function createPartCount(most: number): (chunk: Uint8Array) => void {
  let parts = 0;
  let isText = false;
  let isEscaped = false;
  let isLineStart = false;
  let before = 0;
  const countLine = createLineCount();

  /** An empty line ends the event. A text of JSON has no line ends, so it is over, too. */
  function endLine(byte: number): void {
    const isHalf = byte === LINE_FEED && before === RETURN;
    if (!isHalf) countLine();
    if (isLineStart && !isHalf) parts = 0;
    isText = false;
    isEscaped = false;
    isLineStart = true;
  }

  return (chunk) => {
    for (const byte of chunk) {
      if (byte === LINE_FEED || byte === RETURN) {
        endLine(byte);
        before = byte;
        continue;
      }
      before = byte;
      isLineStart = false;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
        continue;
      }
      if (byte === QUOTE) isText = true;
      else if (PARTS.has(byte) && ++parts > most)
        throw new StreamFault(`an event has more than ${most} lists, objects and fields`);
    }
  };
}

/** It says where to send what is to be said, which the library reads as an address: its event has no more bytes. */
const MAX_ENDPOINT = ADDRESS_LENGTH;
const ENDPOINT = /^(?:\xEF\xBB\xBF)?event: ?endpoint$/;

/** Throws before the end of an event that names an address which is too long to be read. */
function createEndpointLook(): (chunk: Uint8Array) => void {
  let line = '';
  let bytes = 0;
  let isEndpoint = false;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte !== LINE_FEED) {
        bytes += 1;
        if (line.length < 40) line += String.fromCharCode(byte);
        continue;
      }
      isEndpoint ||= ENDPOINT.test(line);
      if (isEndpoint && bytes > MAX_ENDPOINT)
        throw new StreamFault(`the server names an address of more than ${MAX_ENDPOINT} characters`);
      if (line === '') {
        bytes = 0;
        isEndpoint = false;
      }
      line = '';
    }
  };
}

/**
 * With one kind of line end: where there are several, the library looks for the next of each with every line, through all
 * that has come.
 */
function createLineEnds(): (chunk: Uint8Array) => Uint8Array {
  let before = 0;
  return (chunk) => {
    const wasReturn = before === RETURN;
    before = chunk.at(-1) ?? before;
    if (!chunk.includes(RETURN) && !(wasReturn && chunk[0] === LINE_FEED)) return chunk;
    const written = new Uint8Array(chunk.length);
    let length = 0;
    let last = wasReturn ? RETURN : 0;
    for (const byte of chunk) {
      if (byte !== LINE_FEED || last !== RETURN) written[length++] = byte === RETURN ? LINE_FEED : byte;
      last = byte;
    }
    return written.subarray(0, length);
  };
}

/** The events, as the library can bear them; throws where one is too large. */
export async function* bearableEvents(chunks: AsyncIterable<Uint8Array>, mostParts: number) {
  const look = createPartCount(mostParts);
  const lookForEndpoint = createEndpointLook();
  const withLineEnds = createLineEnds();
  for await (const chunk of chunks) {
    look(chunk);
    const plain = withLineEnds(chunk);
    lookForEndpoint(plain);
    yield plain;
  }
}
