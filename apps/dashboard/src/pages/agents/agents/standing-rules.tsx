import { web } from '@troupe/contract';
import type { StandingRule } from '@troupe/domain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, carefully, stale } from '../../../api.ts';
import { day } from '../../../format.ts';
import { standing as texts } from '../../../texts/standing.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { standingWords } from '../conversations/standing-words.ts';

function rulesIn(config: Record<string, unknown>): StandingRule[] {
  const { standing } = (config['safety'] ?? {}) as { standing?: StandingRule[] };
  return standing ?? [];
}

/** Takes a rule away from those that there are now: one that went elsewhere meanwhile does not come back with the others. */
function useRemoval(agentId: string, done: () => void) {
  const params = { id: agentId };
  const queries = useQueryClient();
  return useMutation({
    async mutationFn(rule: StandingRule) {
      const { config } = await call(web.agents.getConfig, { params });
      const standing = rulesIn(config).filter((one) => JSON.stringify(one) !== JSON.stringify(rule));
      // To ask more often is no change that a case could fail by.
      await carefully(web.agents.putConfig, { params, body: { safety: { standing } }, query: { force: 'true' } });
      await stale(queries, web.agents.getConfig);
    },
    onSuccess: done,
  });
}

/** What the owner allowed for good, with where that was, and the way back. */
export function StandingRules({ agentId, config }: { agentId: string; config: Record<string, unknown> }) {
  const say = useSay();
  const rules = rulesIn(config);
  const save = useRemoval(agentId, () => say(texts.removed));
  return (
    <Card title={texts.title} hint={texts.hint}>
      {save.error && <Notice tone="danger">{save.error.message}</Notice>}
      {rules.length === 0 ? (
        <p className="text-ink-soft">{texts.none}</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line">
          {rules.map((rule) => {
            const words = standingWords(rule);
            return (
              <li key={`${words} ${rule.since ?? ''}`} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
                <span className="min-w-0 flex-1 wrap-anywhere">
                  <span className="font-medium first-letter:uppercase inline-block" dir="auto">
                    {words}
                  </span>
                  <Origin agentId={agentId} rule={rule} />
                </span>
                <Button
                  small
                  aria-label={texts.removeNamed(words)}
                  disabled={save.isPending}
                  onClick={() => save.mutate(rule)}
                >
                  {texts.remove}
                </Button>
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}

function Origin({ agentId, rule: { since, from } }: { agentId: string; rule: StandingRule }) {
  if (since === undefined) return null;
  return (
    <span className="block text-[0.87rem] text-ink-soft">
      {texts.since(day(since))}
      {from !== undefined && (
        <>
          {', '}
          <Link className="underline" to={`/dashboard/agents/${agentId}`} search={{ tab: 'chat', c: from } as never}>
            {texts.origin}
          </Link>
        </>
      )}
    </span>
  );
}
