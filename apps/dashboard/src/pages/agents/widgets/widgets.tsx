import { web } from '@troupe/contract';
import type { Widget } from '@troupe/contract';
import { lazy, Suspense, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { exactMoney } from '../../../format.ts';
import { connections } from '../../../texts/connections.ts';
import { widgets as texts } from '../../../texts/widgets.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Kind, Row, Rows } from '../connections/parts.tsx';
import type { Act } from '../connections/parts.tsx';

/** Comes when it is opened. */
const WidgetSettings = lazy(() => import('./settings.tsx').then((page) => ({ default: page.WidgetSettings })));

/** Where people without an account talk to the agent. */
export function Widgets({ agentId }: { agentId: string }) {
  const [isMaking, setMaking] = useState(false);
  const read = useCall(web.widgets.list, { params: { id: agentId } });
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      read={read}
      none={read.data?.widgets.length === 0 ? texts.none : undefined}
      add={{ label: texts.make, onClick: () => setMaking(true) }}
    >
      <Rows label={texts.title}>
        {read.data?.widgets.map((widget) => (
          <One key={widget.id} agentId={agentId} widget={widget} />
        ))}
      </Rows>
      <Suspense>{isMaking && <WidgetSettings agentId={agentId} onClose={() => setMaking(false)} />}</Suspense>
    </Kind>
  );
}

function One({ agentId, widget }: { agentId: string; widget: Widget }) {
  const [open, setOpen] = useState<'change' | 'key' | 'remove'>();
  const say = useSay();
  const close = () => setOpen(undefined);
  const which = { params: { id: agentId, widgetId: widget.id } };
  const update = useSend(web.widgets.update, { refresh: [web.widgets.list], done: () => say(texts.saved) });
  const { enabled, hosted, origins, title } = widget;
  const act = (label: string, onClick: () => void): Act => ({
    label,
    named: connections.named(label, title),
    onClick,
  });
  const change = act(connections.change, () => setOpen('change'));
  const toggle = () => update.mutate({ ...which, body: { enabled: !enabled } });
  return (
    <Row
      name={title}
      state={{ tone: enabled ? 'ok' : 'neutral', text: enabled ? texts.on : texts.off }}
      detail={texts.spent(exactMoney(widget.spentTodayUsd), exactMoney(widget.dailyCapUsd))}
      acts={[
        change,
        { ...act(enabled ? texts.switchOff : texts.switchOn, toggle), busy: update.isPending },
        act(texts.newKey, () => setOpen('key')),
        { ...act(connections.remove, () => setOpen('remove')), isDanger: true },
      ]}
      problem={update.error ? { text: update.error.message, acts: [] } : undefined}
    >
      {origins.length === 0 && !hosted && (
        <Notice tone="spot" title={texts.noSite}>
          <div className="mt-2">
            <Button small onClick={change.onClick}>
              {texts.nameSite}
            </Button>
          </div>
        </Notice>
      )}
      {origins.length > 0 && <Code label={texts.code} text={widget.embed} />}
      {hosted && <Code label={texts.page} text={widget.address} />}
      <Suspense>{open === 'change' && <WidgetSettings agentId={agentId} widget={widget} onClose={close} />}</Suspense>
      <Asked agentId={agentId} widget={widget} open={open} onClose={close} />
    </Row>
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
        title={connections.removeTitle(widget.title)}
        losses={texts.removeLoss}
        action={connections.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(which)}
      />
    </>
  );
}
