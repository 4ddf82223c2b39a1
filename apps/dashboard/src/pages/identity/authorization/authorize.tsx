import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { authorize as texts } from '../../../texts/account.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Page } from '../../../ui/page.tsx';
import { Lines } from '../../../ui/states.tsx';

/** As the program wrote it: the router would read numbers and objects out of it. */
const readAsked = () => Object.fromEntries(new URLSearchParams(location.search)) as Record<string, string>;

/** A program asks for access: who, to what, and where it sends people afterwards. */
export default function Authorize() {
  const [asked] = useState(readAsked);
  const [refused, setRefused] = useState<readonly string[]>([]);
  const read = useCall(web.authorization.describe, { query: asked }, { retry: false });
  const decide = useSend(web.authorization.decide, { done: ({ redirect }) => location.assign(redirect) });
  if (!read.data)
    return (
      <Page title={texts.title}>
        {read.error ? (
          <Notice tone="danger" title={texts.wrong(read.error.message)}>
            <p>{texts.wrongHint}</p>
          </Notice>
        ) : (
          <Lines rows={4} />
        )}
      </Page>
    );
  const { client, audience, scopes } = read.data;
  const chosen = scopes.map(({ scope }) => scope).filter((scope) => !refused.includes(scope));
  const answer = (approved: boolean) => decide.mutate({ body: { ...asked, approved, scopes: chosen } });
  const toggle = (scope: string, on: boolean) =>
    setRefused(on ? refused.filter((one) => one !== scope) : [...refused, scope]);
  return (
    <Page title={texts.title} lead={texts.lead(client.name, audience.kind === 'agent' ? audience.name : undefined)}>
      <Card title={texts.wants}>
        <div className="flex max-w-xl flex-col gap-4">
          {scopes.map(({ scope, text }) => (
            <CheckField
              key={scope}
              label={text}
              checked={!refused.includes(scope)}
              onChange={({ target }) => toggle(scope, target.checked)}
            />
          ))}
          <Notice tone="spot">{texts.whereTo(client.host ?? undefined, client.redirectHost)}</Notice>
          {decide.error && <Notice tone="danger">{decide.error.message}</Notice>}
          <div className="flex flex-wrap gap-3">
            <Button
              kind="primary"
              disabled={chosen.length === 0}
              busy={decide.isPending || decide.isSuccess}
              onClick={() => answer(true)}
            >
              {texts.allow}
            </Button>
            <Button disabled={decide.isPending || decide.isSuccess} onClick={() => answer(false)}>
              {texts.refuse}
            </Button>
          </div>
        </div>
      </Card>
    </Page>
  );
}
