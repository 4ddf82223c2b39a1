import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { shortName } from '@troupe/contract';
import type { Workspace } from '../workspace/workspace.ts';
import type { Cdp, CdpEvent } from './cdp.ts';

/** What a page downloads lands in a folder of the browser's own, and is brought into the workspace when it is whole. */

export interface Downloads {
  hear: (event: CdpEvent) => void;
  /** Whether something is still coming in. */
  isBusy: () => boolean;
  /** Brings what has arrived into the workspace; answers what there is to say of it. */
  collect: () => Promise<string[]>;
}

interface Download {
  name: string;
  state: 'coming' | 'whole' | 'failed';
  why?: string;
}

const MB = 1024 * 1024;
const MOST_BYTES = 100 * MB;
const MOST_AT_ONCE = 5;
const FOLDER = 'downloads';

/** A name as it may stand in a workspace, whatever the server calls it. */
function fileName(wanted: string): string {
  const plain = wanted
    .replace(/[^\p{L}\p{N}._ -]/gu, '_')
    .replace(/^[. ]+/, '')
    .trim();
  return shortName(plain) || 'file';
}

export function createDownloads({
  cdp,
  folder,
  workspace,
}: {
  cdp: () => Cdp;
  folder: () => string;
  workspace: () => Promise<Workspace>;
}): Downloads {
  const known = new Map<string, Download>();

  function fail(guid: string, why: string): void {
    const download = known.get(guid);
    if (!download || download.state === 'failed') return;
    Object.assign(download, { state: 'failed', why });
    cdp()
      .send('Browser.cancelDownload', { guid })
      .catch(() => undefined);
  }

  return {
    hear({ method, params }) {
      const guid = String(params['guid']);
      if (method === 'Browser.downloadWillBegin') {
        known.set(guid, { name: fileName(String(params['suggestedFilename'])), state: 'coming' });
        if (known.size > MOST_AT_ONCE) fail(guid, `at most ${MOST_AT_ONCE} files are downloaded at once`);
      } else if (method === 'Browser.downloadProgress') {
        const download = known.get(guid);
        if (Number(params['receivedBytes']) > MOST_BYTES || Number(params['totalBytes']) > MOST_BYTES)
          fail(guid, `it has more than ${MOST_BYTES / MB} MB`);
        else if (params['state'] === 'canceled') fail(guid, 'it broke off');
        else if (params['state'] === 'completed' && download?.state === 'coming') download.state = 'whole';
      }
    },
    isBusy: () => [...known.values()].some(({ state }) => state === 'coming'),
    async collect() {
      const notes: string[] = [];
      for (const [guid, { name, state, why }] of known) {
        if (state === 'coming') continue;
        known.delete(guid);
        const file = path.join(folder(), guid);
        try {
          if (state === 'failed') {
            notes.push(`The download of ${name} was given up: ${why}.`);
            continue;
          }
          const target = await workspace();
          const source = createReadStream(file);
          const kept = await target.put(`${FOLDER}/${name}`, source, { maxBytes: MOST_BYTES, fresh: true });
          notes.push(`Downloaded: ${kept.path} (${kept.bytes} bytes)`);
        } catch (error) {
          notes.push(`The download of ${name} could not be kept: ${(error as Error).message}.`);
        } finally {
          await rm(file, { force: true });
        }
      }
      return notes;
    },
  };
}
