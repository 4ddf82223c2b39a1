import { approvalFor, domainAllowed, type AgentDefinition } from '@troupe/domain';
import { OutboundError, type Outbound } from '@troupe/kernel';
import { z } from 'zod';
import { failed, tool, type Tool } from './tool.ts';

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_CHARACTERS = 40_000;
const MAX_REDIRECTS = 5;
/** To read a host takes the square of its length. */
const MAX_ADDRESS = 4096;
/** Of a page's text, before blanks are taken out: more of it is not looked for. */
const MAX_LOOKED_AT = 5 * MAX_CHARACTERS;

const ARGS = {
  fetch: z.object({ url: z.string().max(MAX_ADDRESS) }),
};

/**
 * Reads pages of the web through the guarded client. The owner's list of allowed domains, when there is one, holds for
 * every redirect too.
 */
export function fetchTools(outbound: Outbound): Tool[] {
  return [
    tool({
      name: 'fetch',
      toolset: 'fetch',
      description: 'Read a web page or API as text.',
      args: ARGS.fetch,
      repeatable: true,
      async run({ url }, { signal, definition }) {
        const { allowedDomains } = definition.config.safety;
        let target = url;
        for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
          if (!URL.canParse(target) || !/^https?:$/.test(new URL(target).protocol))
            return failed('Only http and https addresses can be read.');
          const { hostname } = new URL(target);
          if (allowedDomains.length > 0 && !domainAllowed(hostname, allowedDomains)) {
            return failed(`The owner does not allow ${hostname}.`);
          }
          try {
            const response = await outbound.fetch(target, { signal, maxBytes: MAX_BYTES, redirects: 0 });
            const { location } = response.headers;
            if (response.status >= 300 && response.status < 400 && location !== undefined) {
              response.cancel();
              if (location.length > MAX_ADDRESS) return failed('The server leads to an address that is too long.');
              const next = URL.parse(location, target)?.href;
              if (next === undefined) return failed('The server leads to an address that is none.');
              const why = whyNotOn(definition, url, next);
              if (why !== undefined) return failed(why);
              target = next;
              continue;
            }
            const body = await response.text();
            const text = /html/.test(response.headers['content-type'] ?? '') ? plainText(body) : body;
            const content = text.slice(0, MAX_CHARACTERS);
            return response.status < 400 ? { content } : failed(`The server answered ${response.status}.\n${content}`);
          } catch (error) {
            if (error instanceof OutboundError) return failed(error.message);
            throw error;
          }
        }
        return failed('Too many redirects');
      },
    }),
  ];
}

const OWN = { name: 'fetch', toolset: 'fetch', takes: Object.keys(ARGS.fetch.shape) };

const hostIn = (url: string): string => new URL(url).hostname.replace(/^www\./, '');

/**
 * Why a redirect is not followed; undefined: it is. What the owner said of the address that was asked for was not said of
 * another: who is asked about each, or named some, would be led past it by any page that sends on.
 */
function whyNotOn(definition: AgentDefinition, from: string, to: string): string | undefined {
  const rule = approvalFor(definition, OWN, { url: to });
  if (rule === 'allow') return undefined;
  if (rule === 'deny') return `The page leads to ${to}, which the owner does not allow.`;
  // Somebody was asked about this one just now.
  if (approvalFor(definition, OWN, { url: from }) === 'ask' && hostIn(from) === hostIn(to)) return undefined;
  return `The page leads to ${to}. To read that, fetch it: the owner wants to be asked.`;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The readable text of a page: good enough for a model, in one pass over the page. */
function plainText(html: string): string {
  let text = '';
  for (let at = 0; at < html.length && text.length < MAX_LOOKED_AT;) {
    const tag = html.indexOf('<', at);
    if (tag === -1) return tidy(text + html.slice(at, at + MAX_LOOKED_AT));
    text += html.slice(at, Math.min(tag, at + MAX_LOOKED_AT));
    const name = /^<\/?([a-z0-9]+)/i.exec(html.slice(tag, tag + 20))?.[1]?.toLowerCase() ?? '';
    const hidden = name === 'script' || name === 'style';
    const end = hidden && html[tag + 1] !== '/' ? html.indexOf(`</${name}`, tag) : html.indexOf('>', tag);
    if (end === -1) return tidy(text);
    at = hidden && html[tag + 1] !== '/' ? end : end + 1;
    text += /^(p|div|br|li|h[1-6]|tr|section|article)$/.test(name) ? '\n' : ' ';
  }
  return tidy(text);
}

const tidy = (text: string): string =>
  text
    .replace(/&([a-z]+);/g, (whole, name: string) => (Object.hasOwn(ENTITIES, name) ? ENTITIES[name]! : whole))
    .replace(/[ \t\r]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
