import { useMemo } from 'react';
import { chat as texts } from '../../../texts/agents.ts';
import { visible } from '../../../visible.ts';
import { changesOf, useBefore } from './before.ts';
import type { Change } from './before.ts';

interface File {
  path: string;
  text: string;
  /** Of the box that it stands in. */
  look: string;
}

/** All of it, as it would be. */
export const WholeFile = ({ text, look }: Omit<File, 'path'>) =>
  text === '' ? (
    <p className="text-ink-soft">{texts.emptyFile}</p>
  ) : (
    <pre className={`${look} break-words whitespace-pre-wrap`} tabIndex={0} dir="auto">
      {visible(text)}
    </pre>
  );

/** A file that somebody decides about: what becomes of the one that is there, or all of a new one. */
export function FileEffect({ agentId, ...file }: File & { agentId: string }) {
  const { data, error } = useBefore(agentId, file.path);
  if (data?.is === 'text' && data.text !== '') return <Changed {...file} before={data.text} />;
  return (
    <>
      <WholeFile {...file} />
      {data?.is === 'other' && <p className="text-[0.85rem] text-ink-soft">{texts.replaces}</p>}
      {error && <p className="text-[0.85rem] text-ink-soft">{texts.beforeUnread}</p>}
    </>
  );
}

function Changed({ before, text, look }: File & { before: string }) {
  const changes = useMemo(() => changesOf(visible(before), visible(text)), [before, text]);
  if (before === text) return <p className="text-ink-soft">{texts.unchanged}</p>;
  return (
    <div className={look} tabIndex={0}>
      {changes.map((change, index) => (
        <div key={index} className="break-words whitespace-pre-wrap" dir="auto">
          <Lines {...change} />
        </div>
      ))}
    </div>
  );
}

function Lines({ kind, lines }: Change) {
  const under = (sign: string) => lines.map((line) => `${sign} ${line}`).join('\n');
  switch (kind) {
    case 'removed':
      return <del className="block text-danger no-underline">{under('−')}</del>;
    case 'added':
      return <ins className="block text-ok no-underline">{under('+')}</ins>;
    case 'same':
      return under(' ');
    case 'left out':
      return <span className="text-ink-faint">{texts.sameLines(lines.length)}</span>;
  }
}
