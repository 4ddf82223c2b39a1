import { createHash } from 'node:crypto';
import { stringify } from 'yaml';

/**
 * As much of Go's template language, with Helm's functions, as deploy/chart uses: what this renders, `helm template` renders
 * alike. Anything else is an error, so that the chart cannot come to need what was never tried. What it takes:
 * actions with `{{-` and `-}}`, comments; if, else if, else, with, range (one or two variables), define, end; variables,
 * `$`, fields, methods of Capabilities.APIVersions, pipelines, parentheses; texts, whole numbers, true, false, nil; and the
 * functions of FUNCTIONS. Not taken, among others: template, block, break, raw texts, lookup, tpl, toJson, regular expressions.
 */

export type Value = unknown;
type Fields = Record<string, Value>;

class TemplateError extends Error {}

const isFields = (value: Value): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && typeof value !== 'function';

/** Go's: empty is zero, nothing, or without members. */
function truth(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isFields(value)) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}

/** Where Go's float64 would begin to be printed with an exponent, which no manifest wants. */
const PLAIN_BELOW = 1_000_000;

function shown(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (Math.abs(value) >= PLAIN_BELOW) throw new TemplateError(`${value} would be printed with an exponent by Helm`);
    return String(value);
  }
  throw new TemplateError(`${JSON.stringify(value) ?? 'nothing'} cannot be printed`);
}

function text(value: Value, what: string): string {
  if (typeof value === 'string') return value;
  throw new TemplateError(`${what} wants a text, and got ${JSON.stringify(value) ?? 'nothing'}`);
}

function whole(value: Value, what: string): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new TemplateError(`${what} wants a whole number, and got ${JSON.stringify(value) ?? 'nothing'}`);
}

function comparable(a: Value, b: Value): boolean {
  if (typeof a !== typeof b || (typeof a === 'object' && a !== null))
    throw new TemplateError('eq and ne compare two texts, two numbers or two truths');
  return a === b;
}

const indent = (spaces: Value, given: Value): string =>
  text(given, 'indent')
    .split('\n')
    .map((line) => ' '.repeat(whole(spaces, 'indent')) + line)
    .join('\n');

/** Only %s and %d, and as many as there are values. */
function printf(format: Value, ...values: Value[]): string {
  const left = [...values];
  const said = text(format, 'printf').replace(/%(.)/g, (_, verb: string) => {
    if (left.length === 0) throw new TemplateError('printf lacks a value');
    if (verb === 's') return text(left.shift(), 'printf %s');
    if (verb === 'd') return String(whole(left.shift(), 'printf %d'));
    throw new TemplateError(`printf %${verb} is not taken`);
  });
  if (left.length > 0) throw new TemplateError('printf has a value too many');
  return said;
}

function dict(...pairs: Value[]): Fields {
  if (pairs.length % 2 === 1) throw new TemplateError('dict wants pairs');
  const made: Fields = {};
  for (let at = 0; at < pairs.length; at += 2) made[text(pairs[at], 'dict')] = pairs[at + 1];
  return made;
}

function index(of: Value, key: Value): Value {
  if (!isFields(of)) throw new TemplateError('index wants an object and a key');
  return of[text(key, 'index')];
}

/** The first that decides, or the last. */
const deciding = (all: readonly Value[], decides: (value: Value) => boolean): Value => {
  const at = all.findIndex(decides);
  return all.at(at);
};

type Call = (...args: Value[]) => Value;

/** The last one is what a pipeline hands on. */
const FUNCTIONS: Readonly<Record<string, Call>> = {
  // all are looked at, where Helm stops at the first that decides: what is wrong in the rest is told here
  and: (...all) => deciding(all, (value) => !truth(value)),
  or: (...all) => deciding(all, truth),
  not: (value) => !truth(value),
  eq: comparable,
  ne: (a, b) => !comparable(a, b),
  default: (otherwise, value) => (truth(value) ? value : otherwise),
  required(message, value) {
    if (value === undefined || value === null || value === '') throw new TemplateError(text(message, 'required'));
    return value;
  },
  fail(message) {
    throw new TemplateError(text(message, 'fail'));
  },
  quote: (value) => (value === undefined || value === null ? '' : JSON.stringify(shown(value))),
  toYaml: (value) => stringify(value, { sortMapEntries: true, lineWidth: 0, version: '1.1' }).trimEnd(),
  indent,
  nindent: (spaces, given) => `\n${indent(spaces, given)}`,
  printf,
  dict,
  list: (...all) => all,
  index,
  int: (value) => Math.trunc(Number(value)),
  add: (...all) => all.reduce<number>((sum, value) => sum + whole(value, 'add'), 0),
  trunc: (length, given) => text(given, 'trunc').slice(0, whole(length, 'trunc')),
  trimSuffix(suffix, given) {
    const [end, all] = [text(suffix, 'trimSuffix'), text(given, 'trimSuffix')];
    return all.endsWith(end) ? all.slice(0, all.length - end.length) : all;
  },
  b64enc: (given) => Buffer.from(text(given, 'b64enc')).toString('base64'),
  sha256sum: (given) => createHash('sha256').update(text(given, 'sha256sum')).digest('hex'),
};

/** What the language takes beside `include`, which needs the definitions. */
export const functionNames = (): string[] => [...Object.keys(FUNCTIONS), 'include'].sort();

type Token = { kind: 'word' | 'text' | 'number' | 'sign'; value: string; glued: boolean };
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(-?\d+)(?![\w.])|(:=|[()|,=])|((?:\$\w*|\.)?(?:\.?\w+(?:\.\w+)*)?))/y;

function tokens(code: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < code.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(code);
    if (!match || match[0].trim() === '') throw new TemplateError(`"${code.slice(at)}" is not taken`);
    const [all, quoted, number, sign, word] = match;
    const glued = at > 0 && !/^\s/.test(all);
    if (quoted !== undefined) found.push({ kind: 'text', value: JSON.parse(quoted) as string, glued });
    else if (number !== undefined) found.push({ kind: 'number', value: number, glued });
    else if (sign !== undefined) found.push({ kind: 'sign', value: sign, glued });
    else found.push({ kind: 'word', value: word ?? '', glued });
  }
  return found;
}

class Variables {
  readonly #own = new Map<string, Value>();
  readonly #outer: Variables | undefined;
  constructor(outer?: Variables) {
    this.#outer = outer;
  }
  get(name: string): Value {
    if (this.#own.has(name)) return this.#own.get(name);
    if (!this.#outer) throw new TemplateError(`there is no variable ${name}`);
    return this.#outer.get(name);
  }
  declare(name: string, value: Value): void {
    this.#own.set(name, value);
  }
  assign(name: string, value: Value): void {
    if (this.#own.has(name)) this.#own.set(name, value);
    else if (this.#outer) this.#outer.assign(name, value);
    else throw new TemplateError(`there is no variable ${name}`);
  }
}

interface Scope {
  dot: Value;
  variables: Variables;
  include: Call;
}

function member(of: Value, name: string, whose: string): Value {
  if (of === undefined || of === null) throw new TemplateError(`${whose} has no ${name}: it is nothing`);
  if (!isFields(of)) throw new TemplateError(`${whose} has no ${name}`);
  return of[name];
}

function lookUp(word: string, scope: Scope): Value {
  if (word === '.') return scope.dot;
  const [head = '', ...names] = word.split('.');
  let value = head.startsWith('$') ? scope.variables.get(head) : scope.dot;
  names.forEach((name, at) => (value = member(value, name, names.slice(0, at).join('.') || head || '.')));
  return value;
}

const LITERALS: Readonly<Record<string, Value>> = { true: true, false: false, nil: undefined };

/** A pipeline: commands, each given the value of the one before as its last argument. */
function evaluate(all: readonly Token[], scope: Scope): Value {
  let at = 0;
  const isSign = (value: string): boolean => all[at]?.kind === 'sign' && all[at]?.value === value;

  function term(): Value {
    const token = all[at];
    if (token === undefined) throw new TemplateError('a value lacks');
    at += 1;
    if (token.kind === 'text') return token.value;
    if (token.kind === 'number') return Number(token.value);
    if (token.value === '(') {
      let value = pipeline();
      if (!isSign(')')) throw new TemplateError('a ) lacks');
      at += 1;
      // (…).field
      while (all[at]?.kind === 'word' && all[at]?.glued && all[at]?.value.startsWith('.')) {
        value = lookUp(all[at]!.value, { ...scope, dot: value });
        at += 1;
      }
      return value;
    }
    if (token.kind === 'sign') throw new TemplateError(`"${token.value}" is not taken here`);
    if (/^[.$]/.test(token.value)) return lookUp(token.value, scope);
    if (Object.hasOwn(LITERALS, token.value)) return LITERALS[token.value];
    if (token.value === 'include') return scope.include;
    if (!Object.hasOwn(FUNCTIONS, token.value)) throw new TemplateError(`the function ${token.value} is not taken`);
    return FUNCTIONS[token.value];
  }

  function command(handed: Value[]): Value {
    const first = term();
    const args: Value[] = [];
    while (at < all.length && !isSign('|') && !isSign(')')) {
      const arg = term();
      // a function without arguments of its own
      args.push(typeof arg === 'function' ? (arg as Call)() : arg);
    }
    if (typeof first === 'function') return (first as Call)(...args, ...handed);
    if (args.length + handed.length > 0) throw new TemplateError('only functions have arguments');
    return first;
  }

  function pipeline(): Value {
    let value = command([]);
    while (isSign('|')) {
      at += 1;
      value = command([value]);
    }
    return value;
  }

  const value = pipeline();
  if (at < all.length) throw new TemplateError(`"${all[at]!.value}" is not taken here`);
  return value;
}

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'action'; code: Token[] }
  | { kind: 'if' | 'with' | 'range'; code: Token[]; body: Node[]; otherwise: Node[] };

/** Texts and actions in turns; a dash takes the white space on its side away. */
function* pieces(source: string): Generator<{ text: string } | { code: string }> {
  let at = 0;
  let trims = false;
  for (const match of source.matchAll(/\{\{(-\s)?\s*(\/\*[\s\S]*?\*\/|(?:"(?:[^"\\]|\\.)*"|[^"])*?)\s*(\s-)?\}\}/g)) {
    let before = source.slice(at, match.index);
    if (trims) before = before.trimStart();
    if (match[1]) before = before.trimEnd();
    yield { text: before };
    if (!match[2]!.startsWith('/*')) yield { code: match[2]! };
    trims = match[3] !== undefined;
    at = match.index + match[0].length;
  }
  const rest = source.slice(at);
  if (rest.includes('{{')) throw new TemplateError('an action has no end');
  yield { text: trims ? rest.trimStart() : rest };
}

export class Templates {
  readonly #defined = new Map<string, Node[]>();

  /** Keeps what the file defines, and returns how to render the rest of it. */
  add(source: string): (dot: Value) => string {
    const nodes = this.#parse(source);
    return (dot) => this.#start(nodes, dot);
  }

  #parse(source: string): Node[] {
    const found = [...pieces(source)];
    let at = 0;
    const block = (ends: readonly string[]): { nodes: Node[]; end: string } => {
      const nodes: Node[] = [];
      for (; at < found.length; at += 1) {
        const piece = found[at]!;
        if ('text' in piece) {
          nodes.push({ kind: 'text', text: piece.text });
          continue;
        }
        const [word = ''] = piece.code.split(/\s/, 1);
        if (word === 'end' || word === 'else') {
          if (!ends.includes(word)) throw new TemplateError(`a lost ${word}`);
          at += 1;
          return { nodes, end: piece.code };
        }
        if (word === 'define') {
          const name = JSON.parse(piece.code.slice(word.length).trim()) as string;
          at += 1;
          this.#defined.set(name, block(['end']).nodes);
          at -= 1;
        } else if (word === 'if' || word === 'with' || word === 'range') {
          at += 1;
          nodes.push(branch(word, piece.code.slice(word.length)));
          at -= 1;
        } else nodes.push({ kind: 'action', code: tokens(piece.code) });
      }
      if (ends.length > 0) throw new TemplateError('an end lacks');
      return { nodes, end: '' };
    };
    const branch = (kind: 'if' | 'with' | 'range', code: string): Node => {
      const { nodes: body, end } = block(['end', 'else']);
      const otherwise = /^else\s+if\b/.test(end)
        ? [branch('if', end.replace(/^else\s+if/, ''))]
        : end === 'else'
          ? block(['end']).nodes
          : [];
      return { kind, code: tokens(code), body, otherwise };
    };
    return block([]).nodes;
  }

  #start(nodes: readonly Node[], dot: Value): string {
    const variables = new Variables();
    variables.declare('$', dot);
    return this.#run(nodes, dot, variables);
  }

  readonly #include: Call = (name, dot) => {
    const nodes = this.#defined.get(text(name, 'include'));
    if (!nodes) throw new TemplateError(`nothing defines "${String(name)}"`);
    return this.#start(nodes, dot);
  };

  #run(nodes: readonly Node[], dot: Value, variables: Variables): string {
    const scope: Scope = { dot, variables, include: this.#include };
    return nodes
      .map((node) => {
        if (node.kind === 'text') return node.text;
        if (node.kind === 'action') return this.#act(node.code, scope);
        if (node.kind === 'range') return this.#each(node, scope);
        const inner = new Variables(variables);
        const { names, code } = declared(node.code);
        const value = evaluate(code, { ...scope, variables: inner });
        if (names[0] !== undefined) inner.declare(names[0], value);
        if (!truth(value)) return this.#run(node.otherwise, dot, new Variables(variables));
        return this.#run(node.body, node.kind === 'with' ? value : dot, inner);
      })
      .join('');
  }

  #act(code: readonly Token[], scope: Scope): string {
    const [name, sign, ...rest] = code;
    if (name?.value.startsWith('$') && sign?.kind === 'sign' && (sign.value === ':=' || sign.value === '=')) {
      const value = evaluate(rest, scope);
      if (sign.value === ':=') scope.variables.declare(name.value, value);
      else scope.variables.assign(name.value, value);
      return '';
    }
    return shown(evaluate(code, scope));
  }

  #each({ code: all, body, otherwise }: Extract<Node, { body: Node[] }>, scope: Scope): string {
    const { names, code } = declared(all);
    const value = evaluate(code, scope);
    if (!truth(value)) return this.#run(otherwise, scope.dot, new Variables(scope.variables));
    if (typeof value !== 'object') throw new TemplateError('range wants a list or an object');
    const entries: [Value, Value][] = Array.isArray(value)
      ? value.map((one, at) => [at, one])
      : Object.entries(value as Fields).sort(([a], [b]) => (a < b ? -1 : 1));
    return entries
      .map(([key, one]) => {
        const inner = new Variables(scope.variables);
        if (names.length === 2) inner.declare(names[0]!, key);
        if (names.length > 0) inner.declare(names.at(-1)!, one);
        return this.#run(body, one, inner);
      })
      .join('');
  }
}

/** `$a := …` and `$a, $b := …` at the head of a block. */
function declared(code: readonly Token[]): { names: string[]; code: readonly Token[] } {
  const at = code.findIndex(({ kind, value }) => kind === 'sign' && value === ':=');
  if (at === -1) return { names: [], code };
  return {
    names: code
      .slice(0, at)
      .filter(({ kind }) => kind === 'word')
      .map(({ value }) => value),
    code: code.slice(at + 1),
  };
}
