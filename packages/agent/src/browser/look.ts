import { defineTask, type WorkerPool } from '@troupe/kernel';
import { CdpError, type Cdp } from './cdp.ts';
import type { Tab } from './tabs.ts';
import type { Frame, run as snapshot, Snapshot } from './tasks/snapshot.task.ts';

export type Look = ReturnType<typeof createLook>;

const SNAPSHOT = defineTask<typeof snapshot>(new URL('./tasks/snapshot.task.ts', import.meta.url), 10_000);
const MOST_FRAMES = 8;
const MOST_ELEMENTS = 15_000;
const TEXT_CHARACTERS = 8_000;

interface FrameTree {
  frame: { id: string; url: string; loaderId: string };
  childFrames?: FrameTree[];
}

const framesIn = ({ frame, childFrames = [] }: FrameTree): FrameTree['frame'][] => [
  frame,
  ...childFrames.flatMap(framesIn),
];

/** What a page shows: its tree, or where that is too large the beginning of its text. */
export function createLook({ pool, owner }: { pool: WorkerPool; owner: string }, cdp: Cdp) {
  /** Which frame, and which document of it, a reference belongs to. */
  const places = new Map<string, { node: number; frameId: string; loaderId: string }>();

  async function count(sessionId: string): Promise<number> {
    const expression = 'document.getElementsByTagName("*").length';
    const { result } = await cdp.send<{ result: { value?: number } }>(
      'Runtime.evaluate',
      { expression },
      { sessionId },
    );
    return result.value ?? 0;
  }

  async function plain(sessionId: string, elements: number): Promise<string> {
    const expression = `(document.body?.innerText ?? "").slice(0, ${TEXT_CHARACTERS})`;
    const { result } = await cdp.send<{ result: { value?: string } }>(
      'Runtime.evaluate',
      { expression },
      { sessionId },
    );
    return `The page is too large for a snapshot (${elements} elements). Its text begins:\n${result.value ?? ''}`;
  }

  async function look(tab: Tab, most: number): Promise<string> {
    const { sessionId } = tab;
    places.clear();
    const elements = await count(sessionId);
    if (elements > MOST_ELEMENTS) return plain(sessionId, elements);
    const { frameTree } = await cdp.send<{ frameTree: FrameTree }>('Page.getFrameTree', {}, { sessionId });
    const frames = framesIn(frameTree).slice(0, MOST_FRAMES);
    const read: Frame[] = [];
    const asked: FrameTree['frame'][] = [];
    for (const frame of frames) {
      try {
        const answer = await cdp.raw('Accessibility.getFullAXTree', { frameId: frame.id }, { sessionId });
        read.push({ url: frame.url, answer });
        asked.push(frame);
      } catch (error) {
        if (error instanceof CdpError && error.kind === 'large') return plain(sessionId, elements);
        // A frame that went away meanwhile is not there to be shown.
        if (!(error instanceof CdpError && error.kind === 'refused')) throw error;
      }
    }
    const found: Snapshot = await pool.run(SNAPSHOT, { frames: read, most }, { key: owner });
    for (const [index, nodes] of found.refs.entries())
      for (const node of nodes)
        places.set(`e${node}`, {
          node,
          frameId: asked[index]?.id ?? '',
          loaderId: asked[index]?.loaderId ?? '',
        });
    tab.title = found.title;
    return found.text;
  }

  return { look, places };
}
