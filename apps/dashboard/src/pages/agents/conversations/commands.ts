/** What `/` and `@` offer in the field where one writes. Choosing sends nothing. */

/** Something that can be done from the field, by name. */
export interface Command {
  name: string;
  words: string;
  act: () => void;
}

/** One line of what is offered. */
export interface Offer {
  key: string;
  label: string;
  hint: string;
  /** What takes the place of what was typed. */
  insert: string;
  act?: () => void;
}

export interface Trigger {
  sign: '/' | '@';
  typed: string;
  /** Where the sign stands. */
  from: number;
}

/** What is being named where the caret stands; undefined: nothing, as within an address or in the middle of a sentence. */
export function triggerAt(text: string, caret: number): Trigger | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([\p{L}\p{N}_-]{0,64})$/u.exec(before);
  if (command) return { sign: '/', typed: command[1]!, from: 0 };
  const named = /(?:^|\s)@([^\s@]{0,200})$/.exec(before);
  return named ? { sign: '@', typed: named[1]!, from: caret - named[1]!.length - 1 } : undefined;
}

/** The text with what was chosen in place of what was typed, and where one goes on. */
export function taken(text: string, caret: number, { from }: Trigger, insert: string): { text: string; caret: number } {
  const rest = text.slice(caret);
  const gap = insert === '' || insert.endsWith('/') || /^\s/.test(rest) ? '' : ' ';
  return { text: `${text.slice(0, from)}${insert}${gap}${rest}`, caret: from + insert.length + gap.length };
}

const holds = (name: string, typed: string): boolean => name.toLowerCase().includes(typed.toLowerCase());

/** Those that begin with what was typed come first. */
const byNearness =
  (typed: string) =>
  (a: { name: string }, b: { name: string }): number =>
    Number(b.name.toLowerCase().startsWith(typed.toLowerCase())) -
    Number(a.name.toLowerCase().startsWith(typed.toLowerCase()));

const MOST = 8;

/** What can be done, and what the agent itself knows by name: that is only written down. */
export function commandOffers(
  typed: string,
  commands: readonly Command[],
  own: readonly { name: string; description?: string | undefined }[],
): Offer[] {
  const done = commands.map(({ name, words, act }) => ({ name, hint: words, insert: '', act }));
  const said = own.map(({ name, description = '' }) => ({ name, hint: description, insert: `/${name}` }));
  return [...done, ...said]
    .filter(({ name }) => holds(name, typed))
    .toSorted(byNearness(typed))
    .slice(0, MOST)
    .map(({ name, ...rest }) => ({ key: `${rest.insert ? 'own' : 'do'}-${name}`, label: `/${name}`, ...rest }));
}

/** The folder that is being looked into, and what is looked for there. */
export function pathTyped(typed: string): { folder: string; name: string } {
  const at = typed.lastIndexOf('/');
  return { folder: at < 0 ? '' : typed.slice(0, at), name: typed.slice(at + 1) };
}

interface Entry {
  name: string;
  kind: string;
}

/** Agents by name, and what is in a folder. A name with a space in it is found by its first word. */
export function nameOffers(
  typed: string,
  agents: readonly { id: string; name: string }[],
  entries: readonly Entry[],
  hints: { agent: string; file: string; folder: string },
): Offer[] {
  const { folder, name } = pathTyped(typed);
  const above = folder === '' ? '' : `${folder}/`;
  const named = folder === '' ? agents.filter((agent) => holds(agent.name, name)) : [];
  const found = entries.filter((entry) => holds(entry.name, name)).toSorted(byNearness(name));
  return [
    ...named.slice(0, MOST / 2).map((agent) => ({
      key: `agent-${agent.id}`,
      label: `@${agent.name}`,
      hint: hints.agent,
      insert: `@${agent.name}`,
    })),
    ...found.slice(0, MOST).map((entry) => {
      const isFolder = entry.kind === 'folder';
      const path = `${above}${entry.name}`;
      return {
        key: `path-${path}`,
        label: isFolder ? `${path}/` : path,
        hint: isFolder ? hints.folder : hints.file,
        insert: isFolder ? `@${path}/` : path,
      };
    }),
  ].slice(0, MOST);
}
