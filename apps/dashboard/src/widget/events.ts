/** Server-sent events of a response, for a page that may have to show its token in a header. */

export interface Told {
  event: string;
  id: number;
  data: {
    role?: 'visitor' | 'agent' | 'person' | 'notice';
    text?: string;
    fresh?: boolean;
    state?: 'agent' | 'waiting' | 'person';
  };
}

function read(block: string): Told {
  const told: Told = { event: '', id: 0, data: {} };
  for (const line of block.split('\n')) {
    const at = line.indexOf(': ');
    const [name, value] = [line.slice(0, at), line.slice(at + 2)];
    if (name === 'event') told.event = value;
    else if (name === 'id') told.id = Number(value) || 0;
    else if (name === 'data') told.data = JSON.parse(value) as Told['data'];
  }
  return told;
}

export async function* readEvents(response: Response): AsyncGenerator<Told> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) if (block !== '' && !block.startsWith(':')) yield read(block);
  }
}
