/** The page of a widget: the same script as on pages of others, alone. */

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const pageOf = (title: string, inside: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
</head>
<body>
${inside}
</body>
</html>
`;

export const chatPage = (title: string, key: string): string =>
  pageOf(title, `<script src="/widget.js" data-key="${escaped(key)}" data-page></script>`);

export const gonePage = (text: string): string => pageOf(text, `<p>${escaped(text)}</p>`);
