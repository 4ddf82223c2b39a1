import { web } from '@troupe/contract';
import { useRef, useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { hourOf, moment, planName } from '../../format.ts';
import { access as texts } from '../../texts/access.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';

const DAY_MS = 86_400_000;
const when = (at: string) => (Date.now() - Date.parse(at) < DAY_MS ? hourOf(at) : moment(at));

export const useAccess = () => useCall(web.access.get, {});

/** The way in for somebody without a plan; nothing at all for those who have one, but the news that they got it here. */
export function AccessCard() {
  const { data } = useAccess();
  const [note, setNote] = useState<string>();
  const send = useSend(web.access.ask, { refresh: [web.access.get] });
  const wasOutside = useRef(false);
  if (!data) return null;
  if (data.state === 'member') {
    if (!wasOutside.current) return null;
    return <IsIn plan={data.plan ?? 'network'} />;
  }
  wasOutside.current = true;
  if (data.sold) {
    return (
      <Notice tone="spot">
        <LinkButton to="/dashboard/billing">{texts.plans}</LinkButton>
      </Notice>
    );
  }
  return (
    <Card title={texts.title} hint={texts.hint}>
      <Form
        className="flex max-w-xl flex-col gap-3"
        error={send.error}
        fields={['note']}
        onSubmit={() => send.mutate({ body: { note: note ?? data.note } })}
      >
        {data.state === 'asked' && <Notice>{texts.asked(when(data.askedAt ?? ''))}</Notice>}
        {data.state === 'refused' && (
          <Notice tone="spot" title={texts.refused}>
            {data.answer}
          </Notice>
        )}
        {data.state !== 'asked' && (
          <>
            <TextArea
              label={texts.note}
              placeholder={texts.notePlaceholder}
              rows={3}
              name="note"
              dir="auto"
              value={note ?? data.note}
              onChange={({ target }) => setNote(target.value)}
            />
            <Refused error={send.error} />
            <div>
              <Button kind="primary" type="submit" busy={send.isPending}>
                {data.state === 'refused' ? texts.again : texts.ask}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Card>
  );
}

function IsIn({ plan }: { plan: string }) {
  return (
    <Notice tone="ok" title={texts.isIn(planName(plan))}>
      <LinkButton kind="primary" className="mt-2" to="/dashboard/agents/new" icon="plus">
        {texts.first}
      </LinkButton>
    </Notice>
  );
}
