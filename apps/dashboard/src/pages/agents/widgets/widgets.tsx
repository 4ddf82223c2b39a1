import { web } from '@troupe/contract';
import type { Widget } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { exactMoney } from '../../../format.ts';
import { widgets as texts } from '../../../texts/widgets.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { WidgetSettings } from './settings.tsx';

/** Where people without an account talk to the agent. */
export function Widgets({ agentId }: { agentId: string }) {
  const [isMaking, setMaking] = useState(false);
  const read = useCall(web.widgets.list, { params: { id: agentId } });
  return (
    <Card title={texts.title} hint={texts.hint}>
      {read.error && <Failure error={read.error} retry={() => void read.refetch()} />}
      {!read.data && !read.error && <Lines rows={2} />}
      {read.data?.widgets.length === 0 && <p className="text-ink-soft">{texts.none}</p>}
      <ul className="flex flex-col gap-4">
        {read.data?.widgets.map((widget) => (
          <Row key={widget.id} agentId={agentId} widget={widget} />
        ))}
      </ul>
      <div className="mt-4">
        <Button icon="plus" onClick={() => setMaking(true)}>
          {texts.make}
        </Button>
      </div>
      {isMaking && <WidgetSettings agentId={agentId} onClose={() => setMaking(false)} />}
    </Card>
  );
}

function Row({ agentId, widget }: { agentId: string; widget: Widget }) {
  const [open, setOpen] = useState<'change' | 'key' | 'remove'>();
  const say = useSay();
  const close = () => setOpen(undefined);
  const which = { params: { id: agentId, widgetId: widget.id } };
  const update = useSend(web.widgets.update, { refresh: [web.widgets.list], done: () => say(texts.saved) });
  const { enabled, hosted, origins } = widget;
  return (
    <li className="flex min-w-0 flex-col gap-3 rounded-xl border border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-3">
        <bdi className="min-w-0 font-medium break-words">{widget.title}</bdi>
        <Badge tone={enabled ? 'ok' : 'neutral'}>{enabled ? texts.on : texts.off}</Badge>
        <span className="min-w-0 flex-1 text-[0.87rem] text-ink-soft">
          {texts.spent(exactMoney(widget.spentTodayUsd), exactMoney(widget.dailyCapUsd))}
        </span>
        <span className="flex flex-wrap gap-2">
          <Button small onClick={() => setOpen('change')}>
            {texts.change}
          </Button>
          <Button
            small
            busy={update.isPending}
            onClick={() => update.mutate({ ...which, body: { enabled: !enabled } })}
          >
            {enabled ? texts.switchOff : texts.switchOn}
          </Button>
          <Button small onClick={() => setOpen('key')}>
            {texts.newKey}
          </Button>
          <Button small kind="danger" onClick={() => setOpen('remove')}>
            {texts.remove}
          </Button>
        </span>
      </div>
      {update.error && <Notice tone="danger">{update.error.message}</Notice>}
      {origins.length === 0 && !hosted && <Notice tone="spot">{texts.noSite}</Notice>}
      {origins.length > 0 && <Code label={texts.code} text={widget.embed} />}
      {hosted && <Code label={texts.page} text={widget.address} />}
      {open === 'change' && <WidgetSettings agentId={agentId} widget={widget} onClose={close} />}
      <Asked agentId={agentId} widget={widget} open={open} onClose={close} />
    </li>
  );
}

interface AskedProps {
  agentId: string;
  widget: Widget;
  open: 'change' | 'key' | 'remove' | undefined;
  onClose: () => void;
}

/** What cannot be undone is asked first. */
function Asked({ agentId, widget, open, onClose }: AskedProps) {
  const say = useSay();
  const which = { params: { id: agentId, widgetId: widget.id } };
  const done = (text: string) => () => {
    say(text);
    onClose();
  };
  const rotate = useSend(web.widgets.rotate, { refresh: [web.widgets.list], done: done(texts.saved) });
  const remove = useSend(web.widgets.remove, { refresh: [web.widgets.list], done: done(texts.removed) });
  return (
    <>
      <Confirm
        open={open === 'key'}
        onClose={onClose}
        title={texts.newKeyTitle}
        losses={texts.newKeyLoss}
        action={texts.newKey}
        busy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate(which)}
      />
      <Confirm
        open={open === 'remove'}
        onClose={onClose}
        title={texts.removeTitle(widget.title)}
        losses={texts.removeLoss}
        action={texts.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(which)}
      />
    </>
  );
}
