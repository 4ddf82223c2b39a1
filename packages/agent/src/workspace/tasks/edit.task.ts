export interface Edits {
  text: string;
  edits: readonly { oldText: string; newText: string }[];
}

/** Looking for a text that almost occurs everywhere takes its length times that of the file. */
export function run({ text: given, edits }: Edits): { text: string } | { refused: string } {
  let text = given;
  for (const [index, { oldText, newText }] of edits.entries()) {
    const times = countOf(text, oldText);
    if (times !== 1) return { refused: `Edit ${index + 1}: the text occurs ${times} times. Nothing was changed.` };
    text = text.replace(oldText, () => newText);
  }
  return { text };
}

function countOf(text: string, part: string): number {
  let times = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) times += 1;
  return times;
}
