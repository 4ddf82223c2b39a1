import { talk } from '../../../texts/talk.ts';
import { underground } from '../../../texts/underground.ts';

/** How the first message of another agent begins; a title may end anywhere in it. */
const TOLD = /^Message from the agent \S+, action ([A-Z_]+)/;

/** What a conversation is called: one that another agent began by what it is about, not by how that was sent. */
export function titleOf(title: string | undefined): string {
  const given = (title ?? '').trim();
  const [, action = ''] = TOLD.exec(given) ?? [];
  if (action === '') return given || talk.untitled;
  return underground.actions[action] ?? talk.channels['bus'] ?? given;
}
