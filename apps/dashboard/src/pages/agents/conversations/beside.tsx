import type { WebAgent } from '@troupe/contract';
import { lazy, Suspense, useCallback, useState } from 'react';
import { touched as texts } from '../../../texts/talk.ts';
import { Drawer } from '../../../ui/dialog.tsx';
import type { Conversation } from './conversation.ts';
import { TouchedList, useTouched } from './touched.tsx';

const FileDialog = lazy(() => import('../files/file-preview.tsx').then((page) => ({ default: page.FileDialog })));

/** The files of a conversation: in a column on a wide screen, in a drawer otherwise, and the one that is looked at. */
export function useBeside(agent: WebAgent, sessionId: string | undefined, read: Conversation) {
  const [file, setFile] = useState<string>();
  const [isListed, setListed] = useState(false);
  const files = useTouched(agent.id, sessionId, read);
  const open = useCallback((path: string) => {
    setListed(false);
    setFile(path);
  }, []);
  const list = (
    <>
      <h2 className="eyebrow mb-2 px-2 font-sans">{texts.title}</h2>
      <TouchedList files={files} agent={agent.name} onOpen={open} />
    </>
  );
  const beside = (
    <>
      <aside
        aria-label={texts.title}
        className="hidden h-[calc(100dvh-11.5rem)] min-w-0 overflow-y-auto min-[100rem]:block"
      >
        {list}
      </aside>
      <Drawer open={isListed} onClose={() => setListed(false)} title={texts.title}>
        <div className="p-4">{list}</div>
      </Drawer>
      {file !== undefined && (
        <Suspense>
          <FileDialog agentId={agent.id} path={file} onClose={() => setFile(undefined)} />
        </Suspense>
      )}
    </>
  );
  return { count: files.length, list: () => setListed(true), open, beside };
}
