import type { TeamTool } from '../teams/templates.ts';
import { readTime } from './when.ts';

/** What a sentence asks for, by rules alone. What they do not understand stays in the words of the sentence. */
export interface Said {
  name: string;
  instruction: string;
  tools: TeamTool[];
  /** What it is asked each time, or once. */
  prompt: string;
  cron: string | null;
  tells: SaidChannel | null;
  capUsd: number | null;
  /** How many pages it reads each time. */
  pages: number;
  notes: string[];
}

export const SAID_CHANNELS = ['telegram', 'slack', 'email', 'discord', 'whatsapp'] as const;
export type SaidChannel = (typeof SAID_CHANNELS)[number];

const CHANNEL = /\b(?:on|by|via|over|to|in|through) (?:my )?(telegram|slack|discord|whatsapp|e-?mail|mail)\b/i;
const CAP =
  /\b(?:for )?(?:at most|up to|no more than|max(?:imum)?|cap(?:ped)?(?: at)?) (?:\$ ?(\d{1,6}(?:\.\d{1,2})?)|(\d{1,6}(?:\.\d{1,2})?) (?:dollars?|usd))(?: (?:a|per|each) month)?/i;
const ADDRESS =
  /\bhttps?:\/\/[^\s,;<>"']{1,500}|\b(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|io|dev|eu|de|fr|uk|ch|at|info|news|app|ai|co)\b(?:\/[^\s,;<>"']{0,300})?/gi;
const COUNTS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const SITES =
  /\b(?:(one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) )?(?:web ?)?(?:sites?|pages?|blogs?|feeds?)\b/i;

const TOOL_WORDS: [TeamTool, RegExp][] = [
  ['fetch', /\b(?:web|internet|online|sites?|website|pages?|blogs?|feeds?|news|https?|weather|prices?|look up)\b/i],
  ['filesystem', /\b(?:files?|folder|documents?|save|write down|csv|spreadsheet|report to)\b/i],
  ['shell', /\b(?:commands?|shell|terminal|script|git|build|compile|run the tests)\b/i],
  ['memory', /\b(?:new|news|changed?|changes|remember|since|again|differen(?:t|ce))\b/i],
];

/** From where such signs begin and nowhere between: each is looked at once, however many there are. */
const ENDING = /(?<![\s,;])[\s,;]+$/;

const tidy = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,.;!?])/g, '$1')
    .replace(/^[\s,.;]+(?:and |then )?/i, '')
    .replace(ENDING, '')
    .replace(/[\s,;](?:and|then)$/i, '')
    .replace(ENDING, '')
    .trim();

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function channelIn(sentence: string): { tells: SaidChannel | null; rest: string } {
  const found = CHANNEL.exec(sentence);
  if (!found) return { tells: null, rest: sentence };
  const word = found[1]!.toLowerCase();
  const tells = word.endsWith('mail') ? 'email' : (word as SaidChannel);
  return { tells, rest: sentence.replace(CHANNEL, '') };
}

/** How many pages are read each time: those with an address, or as many as are counted. */
function pagesIn(sentence: string): { pages: number; named: number } {
  const named = new Set(sentence.match(ADDRESS)).size;
  const counted = SITES.exec(sentence)?.[1]?.toLowerCase();
  const said = counted === undefined ? 0 : COUNTS.indexOf(counted) + 1 || Number(counted) || 0;
  return { pages: Math.max(named, said), named };
}

const NAMES: [TeamTool, string][] = [
  ['shell', 'Builder'],
  ['fetch', 'Scout'],
  ['filesystem', 'Clerk'],
];

function notesOn(sentence: string, tools: TeamTool[], sites: { pages: number; named: number }): string[] {
  const missing = sites.pages > sites.named || (SITES.test(sentence) && sites.named === 0);
  return [
    ...(missing ? ['You speak of sites without their addresses: write them into what it does.'] : []),
    ...(tools.includes('shell') ? ['It may run commands: take Shell away if it need not.'] : []),
  ];
}

/** Reads a sentence by rules. */
export function understand(sentence: string): Said {
  const said = sentence.trim();
  const cap = CAP.exec(said);
  const channel = channelIn(said.replace(CAP, ''));
  const { cron, rest } = readTime(channel.rest);
  const sites = pagesIn(said);
  const tools = TOOL_WORDS.flatMap(([tool, words]) =>
    words.test(said) || (tool === 'fetch' && sites.named > 0) ? [tool] : [],
  );
  const left = tidy(rest);
  const prompt = capital(left.split(' ').length < 2 ? said : left);
  return {
    name: NAMES.find(([tool]) => tools.includes(tool))?.[1] ?? 'Helper',
    instruction: `You do this for your owner: ${prompt.replace(/[.!?]*$/, '.')} Be brief. Say where things come from. When something cannot be done, say so and why.`,
    tools,
    prompt,
    cron,
    tells: channel.tells,
    capUsd: cap ? Number(cap[1] ?? cap[2]) : null,
    pages: tools.includes('fetch') ? Math.max(1, sites.pages) : 0,
    notes: notesOn(said, tools, sites),
  };
}
