/** Writes what a page shows, as programs for the blind are told it, in few words, with a reference for what can be used. */

export interface Frame {
  url: string;
  /** The browser's answer, as it came. */
  answer: Uint8Array;
}

export interface Snapshot {
  title: string;
  text: string;
  /** Of each frame: the nodes that have a reference. */
  refs: number[][];
}

interface Value {
  value?: unknown;
}

interface AxNode {
  nodeId: string;
  ignored?: boolean;
  role?: Value;
  name?: Value;
  value?: Value;
  properties?: { name: string; value: Value }[];
  childIds?: string[];
  backendDOMNodeId?: number;
}

const USABLE = new Set(
  'button link textbox searchbox combobox checkbox radio switch slider spinbutton menuitem menuitemcheckbox menuitemradio option tab treeitem listbox textarea PopUpButton ToggleButton DisclosureTriangle ColorWell Date DateTime InputTime'.split(
    ' ',
  ),
);
/** Nothing is said of these: only of what is in them. */
const SILENT = new Set(
  'generic none presentation RootWebArea InlineTextBox LineBreak paragraph Section GenericContainer LayoutTable LayoutTableRow LayoutTableCell LabelText rowgroup'.split(
    ' ',
  ),
);
/** What is in them is their value. */
const FIELDS = new Set(['textbox', 'searchbox', 'spinbutton']);
const TOLD = new Set([
  'checked',
  'disabled',
  'expanded',
  'selected',
  'pressed',
  'required',
  'invalid',
  'level',
  'focused',
]);
const NAME_CHARACTERS = 300;
const MOST_INDENT = 12;

const text = (value: Value | undefined): string =>
  (typeof value?.value === 'string' ? value.value : typeof value?.value === 'number' ? String(value.value) : '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, NAME_CHARACTERS);

function lineOf({ role, name, value, properties = [], backendDOMNodeId: id }: AxNode, isUsable: boolean): string {
  const said = text(name);
  const states = properties
    .filter((one) => TOLD.has(one.name) && !['', 'false', 'undefined'].includes(String(one.value.value ?? '')))
    .map((one) => (String(one.value.value) === 'true' ? one.name : `${one.name}=${String(one.value.value)}`));
  const now = text(value);
  return [
    text(role),
    ...(said === '' ? [] : [JSON.stringify(said)]),
    ...(isUsable ? [`[e${id}]`] : []),
    ...(now === '' ? [] : [`value=${JSON.stringify(now)}`]),
    ...states,
  ].join(' ');
}

interface Open {
  id: string;
  depth: number;
  /** The name of what it is in: said once. */
  within: string;
}

function written(nodes: readonly AxNode[], most: number): { lines: string[]; refs: number[]; isCut: boolean } {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const lines: string[] = [];
  const refs: number[] = [];
  let size = 0;
  const seen = new Set<string>();
  const open: Open[] = nodes[0] ? [{ id: nodes[0].nodeId, depth: 0, within: '' }] : [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const node = byId.get(next.id);
    if (!node || seen.has(next.id)) continue;
    seen.add(next.id);
    const role = text(node.role);
    const name = text(node.name);
    const isText = role === 'StaticText';
    const isSilent = node.ignored === true || SILENT.has(role) || (isText && (name === '' || next.within === name));
    let { depth, within } = next;
    if (!isSilent) {
      const isUsable = !isText && USABLE.has(role) && node.backendDOMNodeId !== undefined;
      const line = '  '.repeat(Math.min(depth, MOST_INDENT)) + (isText ? name : lineOf(node, isUsable));
      size += line.length + 1;
      if (size > most) return { lines, refs, isCut: true };
      lines.push(line);
      if (isUsable) refs.push(node.backendDOMNodeId!);
      depth += 1;
      within = name;
    }
    if (isText || FIELDS.has(role)) continue;
    for (const id of (node.childIds ?? []).toReversed()) open.push({ id, depth, within });
  }
  return { lines, refs, isCut: false };
}

export function run({ frames, most }: { frames: readonly Frame[]; most: number }): Snapshot {
  const lines: string[] = [];
  const refs: number[][] = [];
  let left = most;
  let title = '';
  for (const [index, { url, answer }] of frames.entries()) {
    const { result } = JSON.parse(new TextDecoder().decode(answer)) as { result?: { nodes?: AxNode[] } };
    const found = written(result?.nodes ?? [], left);
    refs.push(found.refs);
    if (index === 0) title = text(result?.nodes?.[0]?.name);
    if (index > 0 && found.lines.length > 0) lines.push(`In the frame ${url.slice(0, 200)}:`);
    lines.push(...found.lines);
    left = most - lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (!found.isCut && left > 0) continue;
    lines.push('[the page goes on: what follows is left out]');
    break;
  }
  return { title, text: lines.join('\n'), refs };
}
