import path from 'node:path';
import { parseSync } from 'rolldown/utils';

/** What is known of one source file: which constants it has, whom it knows from elsewhere, who knows them. */

export interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

export interface SourceFile {
  file: string;
  code: string;
  program: Node;
  /** Constants of the file and what they are set to. */
  constants: Map<string, Node>;
  /** Those of them that other files may import. */
  exported: Set<string>;
  /** Functions of the file. */
  functions: Map<string, Node>;
  /** What is imported from files beside it, by the name that it has here. */
  imports: Map<string, { file: string; name: string }>;
  /** What is called otherwise outside, or passed on from other files: `*` is all that they export. */
  passedOn: { file: string; name: string }[];
  /** Names that mean something else somewhere within. */
  shadowed: Set<string>;
  /** What the file calls zod. */
  zod: string | undefined;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** The parts of a node that are there when it runs: types are not. */
export function parts(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter(isNode)
    .filter(({ type }) => !type.startsWith('TS') || RUNS.has(type));
}
const RUNS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

export const isFunction = ({ type }: Node): boolean =>
  type === 'ArrowFunctionExpression' || type === 'FunctionExpression' || type === 'FunctionDeclaration';

export const nameOf = (node: unknown): string => (isNode(node) ? String(node['name'] ?? node['value']) : '');

export function readFile(file: string, code: string): SourceFile {
  const program = parseSync(file, code).program as unknown as Node;
  const found: SourceFile = {
    file,
    code,
    program,
    constants: new Map(),
    exported: new Set(),
    functions: new Map(),
    imports: new Map(),
    passedOn: [],
    shadowed: new Set(),
    zod: undefined,
  };
  for (const statement of program['body'] as Node[]) readStatement(found, statement);
  return found;
}

function readStatement(found: SourceFile, statement: Node): void {
  const from = isNode(statement['source']) ? String(statement['source']['value']) : undefined;
  if (statement.type === 'ImportDeclaration') return readImport(found, statement, from ?? '');
  if (statement.type === 'ExportAllDeclaration')
    return void found.passedOn.push({ file: path.resolve(path.dirname(found.file), from ?? ''), name: '*' });
  for (const specifier of (statement['specifiers'] ?? []) as Node[])
    found.passedOn.push({
      file: from === undefined ? found.file : path.resolve(path.dirname(found.file), from),
      name: nameOf(specifier['local']),
    });
  const declaration = isNode(statement['declaration']) ? statement['declaration'] : statement;
  if (declaration.type === 'FunctionDeclaration') {
    found.functions.set(nameOf(declaration['id']), declaration);
    readNames(found, declaration, true);
  } else if (declaration.type === 'VariableDeclaration')
    for (const one of declaration['declarations'] as Node[]) {
      if (declaration !== statement) found.exported.add(nameOf(one['id']));
      readConstant(found, declaration, one);
    }
  else readNames(found, declaration);
}

function readImport(found: SourceFile, statement: Node, from: string): void {
  for (const specifier of statement['specifiers'] as Node[]) {
    const local = nameOf(specifier['local']);
    if (from === 'zod' && nameOf(specifier['imported']) === 'z') found.zod = local;
    if (!from.startsWith('.') || statement['importKind'] === 'type' || specifier['importKind'] === 'type') continue;
    const beside = path.resolve(path.dirname(found.file), from);
    // as a whole: whoever has it may use any of it by its name
    if (specifier.type === 'ImportSpecifier')
      found.imports.set(local, { file: beside, name: nameOf(specifier['imported']) });
    else found.passedOn.push({ file: beside, name: '*' });
  }
}

function readConstant(found: SourceFile, { kind }: Node, one: Node): void {
  const { id, init } = one as unknown as { id: Node; init: Node | null };
  if (init && isFunction(init)) found.functions.set(nameOf(id), init);
  else if (init && kind === 'const' && id.type === 'Identifier') found.constants.set(nameOf(id), init);
  if (init) readNames(found, init);
}

/** Every name that something below declares: its meaning there is another. And what is imported there, as a whole. */
function readNames(found: SourceFile, node: Node, isOutermost = false): void {
  if (node.type === 'ImportExpression') found.passedOn.push({ file: pathOf(found, node['source']), name: '*' });
  const declared: unknown[] = [];
  if (isFunction(node)) declared.push(...(node['params'] as Node[]), ...(isOutermost ? [] : [node['id']]));
  if (node.type === 'VariableDeclarator' || node.type.startsWith('Class')) declared.push(node['id']);
  if (node.type === 'CatchClause') declared.push(node['param']);
  for (const one of declared) if (isNode(one)) addNames(found.shadowed, one);
  for (const part of parts(node)) readNames(found, part);
}

function pathOf(found: SourceFile, source: unknown): string {
  const from = isNode(source) && source.type === 'Literal' ? String(source['value']) : undefined;
  if (from === undefined)
    throw new Error(`${found.file}: an import must say what it imports, or nobody knows who uses it.`);
  return path.resolve(path.dirname(found.file), from);
}

/** Those of a pattern, and of what it is set to unless said, which is more than needed and does no harm. */
function addNames(names: Set<string>, pattern: Node): void {
  if (pattern.type === 'Identifier') names.add(nameOf(pattern));
  for (const part of parts(pattern)) addNames(names, part);
}
