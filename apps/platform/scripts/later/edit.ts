import { usedBy, type Chosen } from './choose.ts';
import { isNode, nameOf, type Node, type SourceFile } from './file.ts';

/** Fields of what these make that may come later. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  endpoint: ['params', 'query', 'body', 'reply'],
  job: ['data'],
  signal: ['payload'],
};

interface Change {
  at: number;
  /** Characters that it takes the place of. */
  length: number;
  text: string;
}

/** The text of a file with a function for each chosen constant, a call for each use of it, and a getter for each field. */
export function edit(file: SourceFile, chosen: Chosen): string {
  const changes: Change[] = [];
  const put = (at: number, text: string, length = 0): void => void changes.push({ at, length, text });
  const late = new Set([...file.constants].flatMap(([name, init]) => (chosen.isLater(file, name) ? [init] : [])));

  const visit = (node: Node): void => {
    if (node.type.startsWith('Import') || node.type === 'ExportSpecifier') return;
    if (node.type === 'Identifier') {
      if (chosen.isLater(file, nameOf(node))) put(node.end, '()');
      return;
    }
    if (node.type === 'VariableDeclarator') {
      const { init } = node as unknown as { init: Node | null };
      if (!init) return;
      if (late.has(init)) put(init.start, '__later(() => (');
      visit(init);
      if (late.has(init)) put(init.end, '))');
      return;
    }
    if (node.type === 'Property' && node['shorthand'] === true) return visitShort(node);
    const fields = node.type === 'CallExpression' ? FIELDS[nameOf(node['callee'])] : undefined;
    for (const part of usedBy(node))
      if (fields && part.type === 'ObjectExpression') visitFields(part, fields);
      else visit(part);
  };
  const visitShort = (property: Node): void => {
    const name = nameOf(property['key']);
    if (chosen.isLater(file, name)) put(property.end, `: ${name}()`);
  };
  const visitFields = (given: Node, fields: readonly string[]): void => {
    for (const property of given['properties'] as Node[]) {
      const { key, value } = property;
      const name = nameOf(key);
      const isField = property['kind'] === 'init' && property['computed'] !== true && fields.includes(name);
      if (!isField || !isNode(value) || !chosen.makes(file, value)) visit(property);
      else if (property['shorthand'] === true)
        put(property.start, `get ${name}() { return ${name}${chosen.isLater(file, name) ? '()' : ''}; }`, name.length);
      else {
        put(property.start, `get ${name}() { return __kept(this, "${name}", `, value.start - property.start);
        visit(value);
        put(value.end, '); }');
      }
    }
  };
  visit(file.program);
  return apply(file.code, changes);
}

function apply(code: string, changes: readonly Change[]): string {
  let text = '';
  let done = 0;
  // by place; at one place as they were put, which is from the outside in and out again
  for (const { at, length, text: put } of changes.toSorted((a, b) => a.at - b.at)) {
    text += code.slice(done, at) + put;
    done = at + length;
  }
  return text + code.slice(done);
}
