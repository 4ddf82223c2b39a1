import { useEffect, useState } from 'react';
import { rebased } from '../../../diff.ts';
import { keepUnsaved, unsavedIn } from '../../../unsaved.ts';
import { configText, parseConfig } from './config-text.ts';
import type { Config } from './config-text.ts';

export type View = 'form' | 'json';

export interface ConfigDraft {
  /** What was there when it began. */
  base: Config;
  draft: Config;
  /** As it stands in the view that is text. */
  text: string;
  view: View;
}

export const begun = (config: Config, view: View = 'form'): ConfigDraft => ({
  base: config,
  draft: config,
  text: configText(config),
  view,
});

/** What was left when the page was closed; a text that is no configuration in the view of texts. */
function leftIn(name: string, config: Config): ConfigDraft | undefined {
  const left = unsavedIn(name, { text: configText(config) });
  if (!left) return undefined;
  const draft = parseConfig(left.text);
  return { base: config, draft: draft ?? config, text: left.text, view: draft ? 'form' : 'json' };
}

export const parsedOf = ({ view, text, draft }: Omit<ConfigDraft, 'base'>): Config | undefined =>
  view === 'json' ? parseConfig(text) : draft;

/** The same changes on what is there now: what somebody else has saved meanwhile is not taken back by them. */
export function onto(state: ConfigDraft, config: Config): ConfigDraft {
  const parsed = parsedOf(state);
  // Nothing can be said of a text that is no configuration: its changes are counted from where it began.
  if (!parsed) return state;
  const draft = rebased(state.base, parsed, config) as Config;
  return { ...state, base: config, draft, text: configText(draft) };
}

/**
 * One draft in two views, kept until it is saved. A text that is no configuration keeps its view until it is one.
 * `saved`: another one each time it was.
 */
export function useConfigDraft(name: string, config: Config, saved: number) {
  const [state, setState] = useState(() => leftIn(name, config) ?? begun(config));
  const [isKept, setKept] = useState(() => state.text !== configText(config));
  /** Fields that hold their own text begin anew with each. */
  const [revision, setRevision] = useState(0);
  const [seen, setSeen] = useState({ config, saved });
  const anew = (next: ConfigDraft) => {
    setState(next);
    setRevision(revision + 1);
  };
  if (seen.config !== config || seen.saved !== saved) {
    setSeen({ config, saved });
    if (seen.saved !== saved) anew(begun(config, state.view));
    else if (configText(seen.config) !== configText(config)) anew(onto(state, config));
  }
  useEffect(() => {
    const text = state.view === 'json' ? state.text : configText(state.draft);
    keepUnsaved(name, { text: configText(state.base) }, { text });
  }, [name, state]);
  const parsed = parsedOf(state);
  return {
    ...state,
    parsed,
    revision,
    isKept,
    show(view: View) {
      if (view === 'json') setState({ ...state, view, text: configText(state.draft) });
      else if (parsed) setState({ ...state, view, draft: parsed });
    },
    setDraft: (draft: Config) => setState({ ...state, draft }),
    setText: (text: string) => setState({ ...state, text }),
    again() {
      anew(begun(config, state.view));
      setKept(false);
    },
  };
}
