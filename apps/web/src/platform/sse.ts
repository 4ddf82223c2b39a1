/** One event of a stream of server-sent events. */
export interface StreamedEvent {
  id?: string;
  event: string;
  data: string;
}

/** The events of an answer, one by one. Lines end with LF, as ours do. */
export async function* eventsOf({ body }: Response): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body ?? []) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event.data !== '') yield event;
    }
  }
}

function parse(block: string): StreamedEvent {
  const event: StreamedEvent = { event: 'message', data: '' };
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) event.data += (event.data && '\n') + line.slice('data: '.length);
    if (line.startsWith('event: ')) event.event = line.slice('event: '.length);
    if (line.startsWith('id: ')) event.id = line.slice('id: '.length);
  }
  return event;
}
