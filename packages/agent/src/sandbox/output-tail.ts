/** Keeps the beginning and the end of a stream, however long it is, in a fixed amount of memory. */
export interface OutputTail {
  add: (chunk: Buffer) => void;
  total: () => number;
  text: () => string;
}

const KEPT_BYTES = 32 * 1024;

export function createOutputTail(kept = KEPT_BYTES): OutputTail {
  const half = Math.floor(kept / 2);
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let total = 0;
  return {
    add(chunk) {
      total += chunk.length;
      const room = half - head.length;
      if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
      const rest = chunk.subarray(Math.max(0, room));
      // A copy of the end only: a slice would keep the whole chunk alive.
      if (rest.length > 0) tail = Buffer.concat([tail.subarray(-half), rest.subarray(-half)]).subarray(-half);
    },
    total: () => total,
    text() {
      const left = total - head.length - tail.length;
      const middle = left > 0 ? `\n[${left} bytes left out]\n` : '';
      return head.toString('utf8') + middle + tail.toString('utf8');
    },
  };
}
