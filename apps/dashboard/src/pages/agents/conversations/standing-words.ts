import type { StandingRule } from '@troupe/domain';
import { standing as texts } from '../../../texts/standing.ts';

const FOLDER = '/**';

type Said = Pick<StandingRule, 'tool' | 'within' | 'folder'>;

/** What a rule lets the agent do, in words. */
export function standingWords({ tool, within, folder }: Said): string {
  if (tool === 'shell') return texts.command(within ?? '', folder === undefined || folder === '.' ? '' : folder);
  if (tool === 'fetch') return within === null ? texts.anyPage : texts.pagesOf(within);
  const verb = texts.verbs[tool];
  if (verb === undefined) return texts.any(tool);
  if (within === null) return texts.anyFile(verb);
  return within.endsWith(FOLDER) ? texts.inFolder(verb, within.slice(0, -2)) : texts.file(verb, within);
}
