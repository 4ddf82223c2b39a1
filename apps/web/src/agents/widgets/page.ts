import { WIDGET_GONE } from '@troupe/contract';

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

const HEADERS = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' };

/** Without a title there is no such page, and it is a person who reads that. */
export const pageFor = (key: string, title: string | undefined) =>
  title === undefined
    ? { status: 404, headers: HEADERS, body: pageOf(WIDGET_GONE, `<p>${WIDGET_GONE}</p>`) }
    : {
        headers: HEADERS,
        body: pageOf(title, `<script src="/widget.js" data-key="${escaped(key)}" data-page></script>`),
      };
