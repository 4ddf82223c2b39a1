/**
 * A pattern for these words in any case: what a server takes for the same letter depends on the locale that its database
 * was made with. Characters and sets of them only, so it is read in one pass.
 */
export function inAnyCase(words: string): string {
  const one = (character: string): string => {
    const forms = new Set([character, character.toLowerCase(), character.toUpperCase()]);
    const single = [...forms].filter((form) => Array.from(form).length === 1);
    const escaped = single.map((form) => form.replace(/[\\^$.*+?()[\]{}|-]/, String.raw`\$&`));
    return escaped.length === 1 ? escaped[0]! : `[${escaped.join('')}]`;
  };
  return `***:(?c)${Array.from(words, one).join('')}`;
}
