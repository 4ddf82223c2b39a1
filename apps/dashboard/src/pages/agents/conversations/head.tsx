import type { Branch } from '@troupe/contract';
import { lazy, Suspense } from 'react';
import { money } from '../../../format.ts';
import { talk, touched } from '../../../texts/talk.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { usePageKeys } from '../../../ui/keys.ts';
import type { usePlace } from './talk-place.ts';
import { titleOf } from './title.ts';
import { newPlace } from './use-commands.ts';

const Options = lazy(() =>
  import('./conversation-options.tsx').then((page) => ({ default: page.ConversationOptions })),
);
function FilesButton({ count, onClick }: { count: number; onClick: () => void }) {
  if (count === 0) return null;
  return (
    <Button small kind="quiet" icon="file" className="min-[100rem]:hidden" onClick={onClick}>
      {touched.count(count)}
    </Button>
  );
}

interface HeadProps {
  place: ReturnType<typeof usePlace>;
  family: Branch[];
  agentId: string;
  costMicros: number;
  onList: () => void;
  /** How many the conversation is about; a wide screen shows them beside it. */
  files: number;
  onFiles: () => void;
  isOpen: boolean;
  setOpen: (open: boolean) => void;
}

/** What the conversation is called and has cost, and what can be done with it as a whole. */
export function Head({
  place: { session, open },
  family,
  agentId,
  costMicros,
  onList,
  files,
  onFiles,
  isOpen,
  setOpen,
}: HeadProps) {
  // The title is the first field of what opens.
  usePageKeys((key) => {
    if (key === 'F2') setOpen(session !== undefined);
    return key === 'F2';
  });
  return (
    <div className="-mt-2 mb-2 flex items-center gap-2">
      <Button small className="lg:hidden" icon="menu" onClick={onList}>
        <span className="max-sm:sr-only">{talk.showList}</span>
      </Button>
      <h2 className="min-w-0 flex-1 truncate font-sans text-[0.95rem] font-medium text-ink-soft" dir="auto">
        {titleOf(session?.title)}
      </h2>
      {costMicros > 0 && (
        <span className="num text-[0.85rem] text-ink-faint" title={talk.costHint}>
          {money(costMicros / 1e6)}
        </span>
      )}
      <FilesButton count={files} onClick={onFiles} />
      {session && <IconButton icon="dots" label={talk.options} onClick={() => setOpen(true)} />}
      {session && isOpen && (
        <Suspense>
          <Options
            key={session.id}
            agentId={agentId}
            session={session}
            branches={family}
            onClose={() => setOpen(false)}
            onOpen={(id) => {
              setOpen(false);
              open(id);
            }}
            onDeleted={() => {
              setOpen(false);
              open(newPlace(), undefined, true);
            }}
          />
        </Suspense>
      )}
    </div>
  );
}
