/** Characters that nobody sees, written out: what a review shows is what a model would read. */
export const visible = (text: string): string =>
  text.replace(
    /(?!\uFE0F)[\p{Cf}\p{Co}\p{Cn}\p{DI}]|[^\P{Cc}\t\n\r]|\r(?!\n)/gu,
    (hidden) => `[U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
