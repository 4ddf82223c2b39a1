import { createContext, useContext, useState } from 'react';
import type { ReactNode } from 'react';
import { markdown as texts } from '../texts/common.ts';
import { Button } from './button.tsx';
import { leadsTo } from './workspace-path.ts';

/** The workspace that a text is from: what it names there can be looked at, and what it holds be kept there. */
export interface TextFiles {
  /** Where a picture is shown from; undefined: it is none. */
  picture: (path: string) => string | undefined;
  open: (path: string) => void;
  /** Stores a text under a name that is free, and answers it. */
  save: (name: string, text: string) => Promise<string>;
}

export const TextFilesContext = createContext<TextFiles | undefined>(undefined);

const Foreign = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} target="_blank" rel="noopener noreferrer" className="link break-all">
    {children}
  </a>
);

const FileLink = ({ path, children }: { path: string; children: ReactNode }) => {
  const files = useContext(TextFilesContext);
  if (!files) return <span title={path}>{children}</span>;
  return (
    <button type="button" title={path} onClick={() => files.open(path)} className="link inline text-start break-all">
      {children}
    </button>
  );
};

export function TextLink({ target, children }: { target: string; children: ReactNode }) {
  const leads = leadsTo(target);
  if (leads.to === 'web') return <Foreign href={target}>{children}</Foreign>;
  return leads.to === 'file' ? <FileLink path={leads.path}>{children}</FileLink> : children;
}

/** One of the workspace is shown. What a foreign one is asked for can tell somebody something: that takes a click. */
export function Picture({ text, target }: { text: string; target: string }) {
  const files = useContext(TextFilesContext);
  const [isMissing, setMissing] = useState(false);
  const leads = leadsTo(target);
  if (leads.to === 'web') {
    return (
      <>
        {text && `${text}: `}
        <Foreign href={target}>{texts.showPicture(leads.host)}</Foreign>
      </>
    );
  }
  if (leads.to === 'nowhere') return text || target;
  const { path } = leads;
  const src = files?.picture(path);
  if (!files || src === undefined || isMissing) return <FileLink path={path}>{text || path}</FileLink>;
  return (
    <button
      type="button"
      aria-label={texts.openPicture(text || path)}
      onClick={() => files.open(path)}
      className="block max-w-full overflow-hidden rounded-lg border border-line hover:border-line-strong"
    >
      <img
        src={src}
        alt={text || path}
        loading="lazy"
        onError={() => setMissing(true)}
        className="max-h-80 max-w-full object-contain"
      />
    </button>
  );
}

/** By what a language is called, where its files end differently. */
const ENDS: Readonly<Record<string, string>> = {
  bash: 'sh',
  shell: 'sh',
  zsh: 'sh',
  javascript: 'js',
  typescript: 'ts',
  python: 'py',
  markdown: 'md',
  rust: 'rs',
  ruby: 'rb',
  yaml: 'yml',
  text: 'txt',
  plaintext: 'txt',
};

function nameFor(language: string): string {
  const [named = ''] = language.toLowerCase().split(/\s/, 1);
  const end = Object.hasOwn(ENDS, named) ? ENDS[named] : named;
  return `snippet.${end && /^[a-z0-9]{1,8}$/.test(end) ? end : 'txt'}`;
}

type Saving = { is: 'busy' } | { is: 'there'; path: string } | { is: 'not'; why: string };

/** Keeps code of an answer as a file; once it is there the button opens it. */
export function SaveText({ text, language }: { text: string; language: string }) {
  const files = useContext(TextFilesContext);
  const [saving, setSaving] = useState<Saving>();
  if (!files) return null;
  const save = () => {
    setSaving({ is: 'busy' });
    files.save(nameFor(language), text).then(
      (path) => setSaving({ is: 'there', path }),
      (error: Error) => setSaving({ is: 'not', why: error.message }),
    );
  };
  const there = saving?.is === 'there' ? saving.path : undefined;
  return (
    <>
      {saving?.is === 'not' && (
        <span role="alert" className="min-w-0 text-danger">
          {saving.why}
        </span>
      )}
      <Button
        small
        icon={there === undefined ? 'folder' : 'file'}
        busy={saving?.is === 'busy'}
        onClick={there === undefined ? save : () => files.open(there)}
      >
        <span aria-live="polite">{there === undefined ? texts.save : texts.savedAs(there)}</span>
      </Button>
    </>
  );
}
