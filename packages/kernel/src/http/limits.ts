import { rulesFor, type RateRule } from '@troupe/domain';
import { countedAddress } from '../addresses.ts';
import type { Counters } from '../counters.ts';
import { AppError } from '../errors.ts';

export type LimitCheck = (
  request: unknown,
  reply: { headers: (values: Record<string, string>) => unknown },
  whom: string,
) => Promise<void>;

/** The check of one route: every rule of its path counts, the one nearest to its end is told in the headers. */
export function limitFor(
  counters: Counters,
  service: string,
  method: string,
  path: string,
  rules?: readonly RateRule[],
  per: 'address' | 'user' = 'address',
): LimitCheck | null {
  const applied = rulesFor(service, method, path, rules).filter((rule) => (rule.per ?? 'address') === per);
  if (applied.length === 0) return null;
  return async (_request, reply, given) => {
    const whom = per === 'address' ? countedAddress(given) : given;
    let nearest: { rule: RateRule; left: number; resets: number } | null = null;
    for (const rule of applied) {
      const hit = counters.hit(`rate:${rule.name}:${whom}`, rule.seconds * 1000);
      const { count, resetsInMs } = hit instanceof Promise ? await hit : hit;
      const left = rule.limit - count;
      if (nearest === null || left < nearest.left) nearest = { rule, left, resets: Math.ceil(resetsInMs / 1000) };
    }
    if (nearest === null) return;
    reply.headers({
      'ratelimit-limit': String(nearest.rule.limit),
      'ratelimit-remaining': String(Math.max(nearest.left, 0)),
      'ratelimit-reset': String(nearest.resets),
    });
    if (nearest.left < 0)
      throw new AppError(429, nearest.rule.message, {}, { headers: { 'retry-after': String(nearest.resets) } });
  };
}
