import { createPgStore } from '@troupe/agent';
import {
  inWords,
  readSettings,
  sendersIn,
  type ChannelHost,
  type ChannelSettings,
  type ChannelStatus,
} from '@troupe/channels';
import {
  CHANNEL_FIELDS,
  CHANNEL_KINDS,
  CHANNEL_NAMES,
  isEmail,
  type AgentChannel,
  type backend,
  type ChannelKind,
  type TypesOf,
} from '@troupe/contract';
import type { Database } from '@troupe/db';
import type { Fleet } from '@troupe/fleet';
import { AppError, randomHex } from '@troupe/kernel';
import type { AgentRow, Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';

type Given = TypesOf<typeof backend.channels.set>['body'];
type Settings = Record<string, string>;

export interface ChannelsDeps {
  db: Database;
  roster: Roster;
  fleet: Fleet;
  host: Pick<ChannelHost, 'refresh' | 'test' | 'webhookPath'>;
  /** Where people and services reach the platform. */
  url: string;
  /** Whether agents run in the platform itself. */
  isHere: boolean;
}

export type ChannelsService = ReturnType<typeof createChannels>;

const RECEIPTS_SHOWN = 50;
/** The only kinds that an agent's configuration can switch off. */
const SWITCHED: ReadonlySet<ChannelKind> = new Set(['telegram', 'whatsapp', 'discord']);
/** What another account is behind: what a channel remembers is of the one before. */
const ACCOUNT = ['token', 'botToken', 'address', 'user', 'imapHost'];

/** What was there and what is given, checked: what is left out stays, what is empty goes. */
function merged(kind: ChannelKind, before: ChannelSettings, { settings, allowed }: Given): Settings {
  const fields = CHANNEL_FIELDS[kind];
  const stranger = Object.keys(settings).find((name) => !fields.some((field) => field.name === name));
  if (stranger !== undefined) throw new AppError(400, `Unknown setting: ${stranger}`);
  const all = { ...before, ...settings, ...(allowed && { allowed: allowed.join('\n') }) };
  const kept = Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  for (const { name, isRequired, choices } of fields) {
    const value = kept[name];
    if (isRequired && value === undefined) throw new AppError(400, `Missing setting: ${name}`);
    if (choices && value !== undefined && !choices.includes(value))
      throw new AppError(400, `${name} must be one of ${choices.join(', ')}`);
    if (
      name.endsWith('Port') &&
      value !== undefined &&
      !(/^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) < 65_536)
    )
      throw new AppError(400, 'A port is a number from 1 to 65535');
  }
  if (kind === 'slack' && !kept['appToken'] && !kept['signingSecret'])
    throw new AppError(400, 'Slack needs an app token (Socket Mode) or a signing secret (Events API)');
  if (kind === 'email' && !isEmail(kept['address'] ?? '')) throw new AppError(400, 'That is no mail address');
  return kept;
}

/**
 * Where mail is handed over is a secret of its own. A channel from before that has none goes on at the address that is
 * made of its password, until that or the mailbox changes: then it would be another in any case.
 */
function withHook(kind: ChannelKind, before: ChannelSettings, settings: Settings): Settings {
  if (kind !== 'email') return settings;
  const isSameBox = before['address'] === settings['address'];
  if (isSameBox && (before['hook'] !== undefined || before['password'] === settings['password'])) return settings;
  return { ...settings, hook: randomHex(16) };
}

/** How the channels of an agent are, for its owner to see. */
function createLook({ db, roster, host, url, isHere }: ChannelsDeps) {
  const storeOf = ({ id, user_id }: AgentRow) => createPgStore({ db, userId: user_id, agentId: id });
  const whose = ({ id, user_id }: AgentRow) => ({ agentId: id, userId: user_id });

  async function settingsOf(agent: AgentRow, kind: ChannelKind): Promise<ChannelSettings | undefined> {
    const opens = (await roster.system.channelTokens(agent))[CHANNEL_NAMES[kind]];
    return opens === undefined ? undefined : readSettings(opens);
  }

  async function stateOf(agent: AgentRow, kind: ChannelKind): Promise<Pick<AgentChannel, 'state' | 'error' | 'at'>> {
    const nothing = { error: null, at: null };
    if (!isHere || agent.driver !== null) return { state: 'elsewhere', ...nothing };
    const { channels = {} } = (await roster.system.definition(agent)).config as {
      channels?: Record<string, { enabled?: boolean } | undefined>;
    };
    const isOff = SWITCHED.has(kind) && channels[CHANNEL_NAMES[kind]]?.enabled !== true;
    if (isOff || agent.status !== 'running') return { state: 'off', ...nothing };
    const status = (await storeOf(agent).channelState(kind))['status'] as ChannelStatus | undefined;
    return status
      ? { state: status.state, error: status.error ?? null, at: status.at }
      : { state: 'starting', ...nothing };
  }

  async function shown(agent: AgentRow, kind: ChannelKind): Promise<AgentChannel> {
    const settings = await settingsOf(agent, kind);
    if (settings === undefined)
      return {
        kind,
        isSet: false,
        settings: {},
        secrets: [],
        allowed: [],
        webhook: null,
        state: 'off',
        error: null,
        at: null,
      };
    const given = CHANNEL_FIELDS[kind].filter(({ name }) => settings[name] !== undefined);
    const path = await host.webhookPath(whose(agent), kind, settings);
    return {
      kind,
      isSet: true,
      settings: Object.fromEntries(
        given.filter(({ isSecret }) => !isSecret).map(({ name }) => [name, settings[name] ?? '']),
      ),
      secrets: given.filter(({ isSecret }) => isSecret).map(({ name }) => name),
      allowed: sendersIn(settings),
      webhook: path === undefined ? null : `${url}/api/runtime/proxy/${agent.id}${path}`,
      ...(await stateOf(agent, kind)),
    };
  }

  return { storeOf, whose, settingsOf, shown };
}

/** An agent's channels: whoever owns it sets, tries and removes them; a change counts at once. */
export function createChannels(deps: ChannelsDeps) {
  const { roster, fleet, host } = deps;
  const { storeOf, whose, settingsOf, shown } = createLook(deps);
  const find = (id: string, userId: string | undefined) => visibleTo(roster, userId).get(id);

  return {
    async list(id: string, userId: string | undefined) {
      const agent = await find(id, userId);
      const channels: AgentChannel[] = [];
      for (const kind of CHANNEL_KINDS) channels.push(await shown(agent, kind));
      return { channels, receipts: await storeOf(agent).receipts({ limit: RECEIPTS_SHOWN }) };
    },

    async set(id: string, userId: string | undefined, kind: ChannelKind, given: Given) {
      const agent = await find(id, userId);
      const before = (await settingsOf(agent, kind)) ?? {};
      const settings = withHook(kind, before, merged(kind, before, given));
      const isOther = ACCOUNT.some((name) => before[name] !== settings[name]);
      const name = CHANNEL_NAMES[kind];
      await roster.system.setChannel(agent, name, JSON.stringify(settings), isOther ? kind : undefined);
      if (SWITCHED.has(kind)) {
        const changed = await roster.system.configure(agent, { channels: { [name]: { enabled: true } } });
        if (changed.agent.status === 'running') await fleet.driver.configure(changed.agent, changed.definition);
      }
      await host.refresh();
      return { channel: await shown(agent, kind) };
    },

    async remove(id: string, userId: string | undefined, kind: ChannelKind) {
      const agent = await find(id, userId);
      await roster.system.removeChannel(agent, CHANNEL_NAMES[kind], kind);
      await host.refresh();
      return { success: true as const };
    },

    async test(id: string, userId: string | undefined, kind: ChannelKind, to: string | undefined) {
      const agent = await find(id, userId);
      const settings = await settingsOf(agent, kind);
      if (settings === undefined) throw new AppError(404, 'This channel is not set');
      try {
        return { ok: true, account: await host.test(whose(agent), kind, settings, to), error: null };
      } catch (error) {
        return { ok: false, account: null, error: inWords(error) };
      }
    },
  };
}
