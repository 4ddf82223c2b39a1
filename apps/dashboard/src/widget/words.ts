/** Words of an agent as nodes: links, bold, code. Whatever else they say is text; nothing is read as markup. */

const MARKS =
  /\[([^\]\n]{1,200})\]\((https?:\/\/[^\s)]{1,500})\)|(https?:\/\/[^\s<>"')\]]{1,500})|\*\*([^*\n]{1,500})\*\*|`([^`\n]{1,500})`/g;

function link(text: string, href: string): HTMLAnchorElement {
  const made = document.createElement('a');
  made.textContent = text;
  made.href = href;
  made.target = '_blank';
  made.rel = 'noopener noreferrer nofollow';
  return made;
}

function named(name: 'b' | 'code', text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

export function nodesOf(text: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let at = 0;
  for (const found of text.matchAll(MARKS)) {
    const [all, label, address, plain, bold, code] = found;
    nodes.push(text.slice(at, found.index));
    if (label !== undefined && address !== undefined) nodes.push(link(label, address));
    else if (plain !== undefined) nodes.push(link(plain, plain));
    else if (bold !== undefined) nodes.push(named('b', bold));
    else nodes.push(named('code', code ?? ''));
    at = found.index + all.length;
  }
  nodes.push(text.slice(at));
  return nodes;
}
