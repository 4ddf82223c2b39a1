import type { SkillFile } from './digest.ts';

/**
 * What somebody should know before a skill is taken. Nothing here is proof: it shows where to look. What a skill can do
 * is bounded elsewhere, whatever stands in it.
 */

export type FileKind = 'text' | 'script' | 'picture' | 'font' | 'document' | 'program' | 'binary';

export interface Finding {
  level: 'danger' | 'warning' | 'note';
  /** What was found, in a word that does not change. */
  code: string;
  /** The same in a sentence. */
  text: string;
  path: string;
  line?: number;
  /** The place itself, short and with hidden characters written out. */
  excerpt?: string;
}

export interface Script {
  path: string;
  /** What would run it. */
  interpreter: string;
  lines: number;
}

export interface Scan {
  kinds: Map<string, FileKind>;
  scripts: Script[];
  /** Hosts that its files name. */
  hosts: string[];
  findings: Finding[];
}

const MOST_FINDINGS = 200;
const PER_RULE = 5;
const MOST_HOSTS = 100;
const LONG_LINE = 4000;
const EXCERPT = 160;

const INTERPRETERS: Readonly<Record<string, string>> = {
  sh: 'sh',
  bash: 'bash',
  zsh: 'zsh',
  py: 'python3',
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'node',
  rb: 'ruby',
  pl: 'perl',
  php: 'php',
  lua: 'lua',
  r: 'Rscript',
  ps1: 'pwsh',
  bat: 'cmd',
  cmd: 'cmd',
  awk: 'awk',
};

/** First bytes, as latin1. */
const SIGNS: readonly (readonly [FileKind, RegExp])[] = [
  [
    'program',
    /^\x7fELF|^MZ|^\xca\xfe\xba\xbe|^\xcf\xfa\xed\xfe|^\xce\xfa\xed\xfe|^\xfe\xed\xfa[\xce\xcf]|^\0asm|^!<arch>/,
  ],
  ['picture', /^\x89PNG|^\xff\xd8\xff|^GIF8|^RIFF[\s\S]{4}WEBP/],
  // oxlint-disable-next-line no-control-regex -- the bytes of a TrueType font
  ['font', /^\0\x01\0\0|^OTTO|^wOF[F2]|^true/],
  ['document', /^%PDF-/],
];

interface Rule {
  level: Finding['level'];
  code: string;
  text: string;
  sign: RegExp;
  /** Where it is looked for; everywhere unless said. */
  only?: 'scripts' | 'prose';
}

const SECRET =
  '(?:api[ _-]?keys?|(?:access |auth |bearer )?tokens?|passwords?|passphrases?|secrets?|credentials?|private keys?|seed phrase|\\.env\\b|environment variables?|cookies?|ssh keys?)';
/** The same sentence. */
const WITHIN = '(?:(?![.!?]\\s).)';
const SENDS =
  '(?:send|sends|sending|post|posts|upload|uploads|transmit|forward|exfiltrat\\w{1,6}|leak|e-?mail|submit|report)';

/** Expressions are bounded on every side: they run over whatever somebody sent. */
const RULES: readonly Rule[] = [
  {
    level: 'danger',
    code: 'hidden-text',
    text: 'Characters that nobody sees: a model reads them all the same',
    // Not what emoji and scripts other than Latin are put together with.
    sign: /[[\p{DI}\uFFF9-\uFFFB\u{F0000}-\u{10FFFD}]--[\uFE00-\uFE0F\uFEFF\u200C\u200D]]|[\uFE00-\uFE0F]{2}|(?<![\p{Extended_Pictographic}\p{EMod}\uFE0F[[\p{L}\p{M}]--\p{sc=Latn}]])[\u200C\u200D]|(?<!^)\uFEFF/v,
  },
  {
    level: 'danger',
    code: 'sends-secrets',
    text: 'Speaks of sending keys, passwords or the like somewhere',
    sign: new RegExp(
      '\\b' +
        SENDS +
        '\\b' +
        WITHIN +
        '{0,80}\\b' +
        SECRET +
        '|' +
        SECRET +
        WITHIN +
        '{0,60}\\b' +
        SENDS +
        '\\b.{0,40}\\bto\\b',
      'i',
    ),
  },
  {
    level: 'danger',
    code: 'overrides',
    text: 'Tells the model to set aside what it was told by others',
    sign: /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|other|system|safety|all)\b.{0,30}\b(?:instructions?|prompts?|rules?|guidelines?|guardrails?)/i,
  },
  {
    level: 'danger',
    code: 'conceals',
    text: 'Tells the model to keep something from the person it works for',
    sign: /\b(?:do not|don['’]t|never|without)\b.{0,30}\b(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|ask(?:ing)?|reveal(?:ing)?|show(?:ing)?)\b.{0,30}\b(?:the |your )?(?:user|owner|human|person|customer|operator)/i,
  },
  {
    level: 'danger',
    code: 'pipes-to-shell',
    text: 'Fetches something and runs it unseen',
    sign: /\b(?:curl|wget|fetch)\b[^\n|]{0,300}\|\s{0,5}(?:sudo\s{1,5})?(?:ba|z|da|k)?sh\b|\b(?:iwr|irm|Invoke-(?:WebRequest|Expression))\b/i,
  },
  {
    level: 'danger',
    code: 'runs-encoded',
    text: 'Runs something that is written in a code',
    sign: /base64\s{1,3}(?:-d|-D|--decode)\b[^\n]{0,80}\|\s{0,5}(?:ba|z)?sh|\b(?:eval|exec)\s{0,3}\(.{0,80}(?:atob|b64decode|fromhex|decompress|fromCharCode)/i,
  },
  {
    level: 'danger',
    code: 'reads-keys',
    text: 'Reaches for places where keys are kept',
    sign: /(?:~|\$HOME|\/root|\/home\/\w{1,40})\/\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|config\/gcloud)|\bid_(?:rsa|ed25519)\b|\/etc\/shadow|\.aws\/credentials|169\.254\.169\.254/i,
  },
  {
    level: 'danger',
    code: 'destroys',
    text: 'Would remove or overwrite more than its own files',
    sign: /\brm\s{1,5}-(?:rf|fr)\s{1,5}(?:--\S{1,30}\s{1,5})?(?:\/|~|\$HOME)(?:\s|\*|$)|\bmkfs\b|\bdd\b[^\n]{0,80}\bof=\/dev\/|:\(\)\s?\{\s?:\|:&\s?\};:/,
  },
  {
    level: 'warning',
    code: 'network',
    text: 'Reaches into the network; commands of agents may only where their owner allowed the domain',
    sign: /\b(?:curl|wget|nc|ncat|socat|ssh|scp|rsync|ftp|telnet)\s{1,5}\S|\brequests\.(?:get|post|put|request)\(|\burllib\.request\b|\bhttp\.client\b|\bsocket\.(?:socket|connect)|\bfetch\(|\baxios\b|\bXMLHttpRequest\b|\bnet\.connect\(/,
    only: 'scripts',
  },
  {
    level: 'warning',
    code: 'environment',
    text: 'Reads the environment, where keys may stand; the sandbox has none of the platform’s',
    sign: /\bos\.environ\b|\bos\.getenv\(|\bprocess\.env\b|\bprintenv\b|\benv\s{0,5}\||\bENV\[/,
    only: 'scripts',
  },
  {
    level: 'warning',
    code: 'installs',
    text: 'Installs programs from elsewhere',
    sign: /\b(?:pip3?|npm|pnpm|yarn|gem|cargo|go|brew|apt|apt-get|apk|dnf|yum)\s{1,5}(?:install|add|get)\b|\b(?:npx|uvx|pipx|bunx)\s{1,5}\S/,
  },
  {
    level: 'warning',
    code: 'more-rights',
    text: 'Asks for more rights than a command has',
    sign: /\bsudo\s|\bchmod\s{1,5}(?:-R\s{1,5})?0?777\b|\bsetuid\b|--privileged\b|dangerously-skip|--yolo\b|--no-verify\b/,
  },
  {
    level: 'warning',
    code: 'has-a-key',
    text: 'Has something in it that looks like a key',
    sign: /\bsk-[A-Za-z0-9_-]{20,}|\bAKIA[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bxox[abp]-[A-Za-z0-9-]{20,}|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----/,
  },
  {
    level: 'warning',
    code: 'comment',
    text: 'A comment that a page does not show and a model reads',
    sign: /<!--(?!\s{0,10}-->).{12,}/,
    only: 'prose',
  },
  {
    level: 'warning',
    code: 'encoded',
    text: 'A long text in a code that nobody can read',
    sign: /[A-Za-z0-9+/]{300,}={0,2}|(?:\\x[0-9a-fA-F]{2}){40,}/,
  },
];

export function scanSkill(files: readonly SkillFile[]): Scan {
  const scan: Scan = { kinds: new Map(), scripts: [], hosts: [], findings: [] };
  const hosts = new Set<string>();
  for (const { path, content } of files) {
    const text = textOf(content);
    const interpreter = text === undefined ? undefined : interpreterOf(path, text);
    scan.kinds.set(path, interpreter ? 'script' : text === undefined ? kindOf(content) : 'text');
    if (text === undefined) scan.findings.push(...binaryFindings(path, kindOf(content)));
    else {
      const lines = text.split('\n');
      if (interpreter) scan.scripts.push({ path, interpreter, lines: lines.length });
      scan.findings.push(...lineFindings(path, lines, interpreter !== undefined));
      for (const [, host = ''] of text.matchAll(/\bhttps?:\/\/([a-z0-9.-]{1,253})/gi))
        if (hosts.size < MOST_HOSTS) hosts.add(host.toLowerCase().replace(/\.$/, ''));
    }
  }
  scan.hosts = [...hosts].toSorted();
  const rank = { danger: 0, warning: 1, note: 2 };
  scan.findings = scan.findings.toSorted((a, b) => rank[a.level] - rank[b.level]).slice(0, MOST_FINDINGS);
  return scan;
}

/** Undefined: these are no letters. */
export function textOf(content: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function interpreterOf(path: string, text: string): string | undefined {
  const [, program] = /^#!\s{0,3}(?:\/usr\/bin\/env\s{1,3}(?:-S\s{1,3})?)?(\S{1,100})/.exec(text) ?? [];
  if (program !== undefined) return program.slice(program.lastIndexOf('/') + 1);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(INTERPRETERS, ending) ? INTERPRETERS[ending] : undefined;
}

function kindOf(content: Uint8Array): FileKind {
  const head = Buffer.from(content.subarray(0, 16)).toString('latin1');
  return SIGNS.find(([, sign]) => sign.test(head))?.[0] ?? 'binary';
}

function binaryFindings(path: string, kind: FileKind): Finding[] {
  if (kind === 'program')
    return [{ level: 'danger', code: 'program', path, text: 'A program that nobody can read before it runs' }];
  if (kind === 'binary')
    return [{ level: 'warning', code: 'binary', path, text: 'Not text: it cannot be looked through' }];
  return [];
}

function lineFindings(path: string, lines: readonly string[], isScript: boolean): Finding[] {
  const found: Finding[] = [];
  for (const { level, code, text, sign, only } of RULES) {
    if ((only === 'scripts' && !isScript) || (only === 'prose' && isScript)) continue;
    let times = 0;
    for (const [index, whole] of lines.entries()) {
      const match = pieces(whole)
        .map((piece) => sign.exec(piece))
        .find(Boolean);
      if (!match) continue;
      if ((times += 1) > PER_RULE) break;
      found.push({ level, code, text, path, line: index + 1, excerpt: shown(match.input, match.index) });
    }
  }
  return found;
}

/** A line without end is looked through in parts that overlap. */
function pieces(line: string): string[] {
  if (line.length <= LONG_LINE) return [line];
  const parts: string[] = [];
  for (let at = 0; at < line.length; at += LONG_LINE - 500) parts.push(line.slice(at, at + LONG_LINE));
  return parts;
}

/** Around the place, with what cannot be seen written out. */
function shown(line: string, at: number): string {
  const from = Math.max(0, at - 40);
  const cut = line.slice(from, from + EXCERPT).toWellFormed();
  const visible = cut.replace(/[\p{C}\p{DI}]/gu, (hidden) =>
    hidden === '\t' ? ' ' : `[U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
  return visible.trim().slice(0, EXCERPT);
}
