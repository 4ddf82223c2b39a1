import type { ChannelDeps } from '../channel.ts';
import { TokenRefused, Trouble, Undeliverable } from '../errors.ts';
import { jsonOf, tryLater } from '../http.ts';

/** Slack's Web API. */

const REFUSED = new Set(
  'invalid_auth not_authed account_inactive token_revoked token_expired no_permission not_allowed_token_type'.split(
    ' ',
  ),
);
const NEVER = new Set(
  'channel_not_found is_archived not_in_channel cannot_dm_bot user_not_found msg_too_long no_text restricted_action'.split(
    ' ',
  ),
);

export type Api = (method: string, args: Record<string, unknown>, token?: string) => Promise<Record<string, unknown>>;

function refused(error: string, needed: unknown): Error {
  if (REFUSED.has(error)) return new TokenRefused(`Slack refused the token (${error})`);
  if (error === 'missing_scope')
    return new Trouble(`The Slack app lacks a permission (scope): ${String(needed)}`, 300_000);
  if (NEVER.has(error)) return new Undeliverable(`Slack: ${error}`);
  return new Trouble(`Slack: ${error}`);
}

const formOf = (args: Record<string, unknown>): string => {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return form.toString();
};

export function createApi({ settings, outbound }: ChannelDeps, baseUrl: string): Api {
  return async (method, args, token = settings['botToken'] ?? '') => {
    const response = await outbound.fetch(`${baseUrl}/${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: formOf(args),
    });
    const answer = await jsonOf(response);
    if (response.status === 429) throw tryLater('Slack', response.headers['retry-after']);
    if (response.status >= 400) throw new Trouble(`Slack answered ${response.status}`);
    if (answer['ok'] !== true) throw refused(String(answer['error'] ?? 'no answer'), answer['needed']);
    return answer;
  };
}
