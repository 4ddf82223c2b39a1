import type { Note } from '@troupe/domain';
import { teams as texts } from '../../../texts/teams.ts';
import { Notice } from '../../../ui/card.tsx';

/** What of a document the team will not do, and what its owner has to add; nothing where all of it is carried over. */
export function Notes({ notCarried, toGive }: { notCarried: readonly Note[]; toGive: readonly Note[] }) {
  return (
    <>
      <List title={texts.notCarried} hint={texts.notCarriedHint} notes={notCarried} />
      <List title={texts.toGive} hint={texts.toGiveHint} notes={toGive} />
    </>
  );
}

function List({ title, hint, notes }: { title: string; hint: string; notes: readonly Note[] }) {
  if (notes.length === 0) return null;
  return (
    <Notice tone="spot" title={title}>
      <p>{hint}</p>
      <ul className="mt-1 list-disc pl-5">
        {notes.map(({ at, says }) => (
          <li key={`${at} ${says}`} className="break-words">
            <code className="text-[0.85rem]">{at}</code>: {says}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
