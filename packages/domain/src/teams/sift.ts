import {
  AGENT_KEYS,
  FALLBACK_KEYS,
  MCP_KEYS,
  METADATA_KEYS,
  MODEL_KEYS,
  PROVIDER_OPTS,
  REMOTE_KEYS,
  TEAM_KEYS,
  toolsetKeys,
  TOOLSETS,
  type Rule,
} from './format.ts';

/** Takes out of a document what is not carried over, and remembers it. What nobody knows, or must not be left out, ends it. */

export interface Note {
  /** Where in the document. */
  at: string;
  says: string;
}

/** What of a document the team does not do, and what its owner has to add. */
export interface Notes {
  lost: Note[];
  toGive: Note[];
}

/** The document cannot be taken as it is. */
export class Unfit extends Error {
  override readonly name = 'Unfit';

  constructor(at: string, says: string) {
    super(`Invalid team: ${at}: ${says}`);
  }
}

type Given = Record<string, unknown>;

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Nothing is lost with it. */
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0);

const known = (rules: Readonly<Record<string, Rule>>): string =>
  Object.keys(rules)
    .filter((key) => rules[key]?.fate !== 'refused')
    .join(', ');

const each = (given: unknown, work: (value: unknown, key: string) => unknown): unknown =>
  isObject(given) ? Object.fromEntries(Object.entries(given).map(([key, value]) => [key, work(value, key)])) : given;

const inside = (given: unknown, key: string, work: (value: unknown) => unknown): unknown =>
  isObject(given) && Object.hasOwn(given, key) ? { ...given, [key]: work(given[key]) } : given;

export function createSieve() {
  const notes: Notes = { lost: [], toGive: [] };

  function keys(at: string, given: unknown, rules: Readonly<Record<string, Rule>>): unknown {
    if (!isObject(given)) return given;
    const kept: Given = {};
    for (const [key, value] of Object.entries(given)) {
      const place = at === '' ? key : `${at}.${key}`;
      const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
      if (!rule) throw new Unfit(place.slice(0, 200), `unknown key; known are ${known(rules)}`);
      if (rule.fate === 'refused' && !isEmpty(value)) throw new Unfit(place, rule.says);
      const told = { lost: notes.lost, asked: notes.toGive }[rule.fate as 'lost' | 'asked'];
      if (told && !isEmpty(value)) told.push({ at: place, says: rule.says });
      if (rule.fate === 'carried') kept[key] = value;
    }
    return kept;
  }

  const server = (at: string, given: unknown, rules: Readonly<Record<string, Rule>>): unknown =>
    inside(keys(at, given, rules), 'remote', (remote) => keys(`${at}.remote`, remote, REMOTE_KEYS));

  function toolset(at: string, given: unknown): unknown {
    const type = isObject(given) ? given['type'] : undefined;
    if (typeof type !== 'string') throw new Unfit(`${at}.type`, 'a toolset needs a type');
    const rule = Object.hasOwn(TOOLSETS, type) ? TOOLSETS[type] : undefined;
    if (!rule) throw new Unfit(at, `unknown toolset ${type.slice(0, 100)}; known are ${known(TOOLSETS)}`);
    if (rule.fate === 'carried') return server(at, given, toolsetKeys(type));
    notes.lost.push({ at: `${at} (${type})`, says: rule.says });
    return undefined;
  }

  function agent(given: unknown, name: string): unknown {
    const at = `agents.${name}`;
    const kept = inside(keys(at, given ?? {}, AGENT_KEYS), 'fallback', (value) =>
      keys(`${at}.fallback`, value, FALLBACK_KEYS),
    );
    return inside(kept, 'toolsets', (value) =>
      Array.isArray(value)
        ? value.map((one, index) => toolset(`${at}.toolsets.${index}`, one)).filter((one) => one !== undefined)
        : value,
    );
  }

  return {
    notes,
    keys,
    team(raw: unknown): unknown {
      let kept = keys('', raw, TEAM_KEYS);
      kept = inside(kept, 'metadata', (value) => keys('metadata', value, METADATA_KEYS));
      kept = inside(kept, 'mcps', (value) => each(value, (one, name) => server(`mcps.${name}`, one, MCP_SERVER_KEYS)));
      return inside(kept, 'agents', (value) => each(value, agent));
    },
    /** Only of models that somebody uses. */
    model(name: string, given: unknown): unknown {
      const kept = keys(`models.${name}`, given, MODEL_KEYS);
      return inside(kept, 'provider_opts', (value) => keys(`models.${name}.provider_opts`, value, PROVIDER_OPTS));
    },
  };
}

const MCP_SERVER_KEYS: Readonly<Record<string, Rule>> = { ...toolsetKeys('mcp'), ...MCP_KEYS };
