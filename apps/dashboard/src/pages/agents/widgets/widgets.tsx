import { web } from '@troupe/contract';
import type { Widget } from '@troupe/contract';
import { lazy, Suspense, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { exactMoney } from '../../../format.ts';
import { connections } from '../../../texts/connections.ts';
import { widgets as texts } from '../../../texts/widgets.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Kind, Row } from '../connections/parts.tsx';

/** Comes when it is opened. */
const WidgetSettings = lazy(() => import('./settings.tsx').then((page) => ({ default: page.WidgetSettings })));

/** Where people without an account talk to the agent. */
export function Widgets({ agentId }: { agentId: string }) {
  const read = useCall(web.widgets.list, { params: { id: agentId } });
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      read={read}
      rows={read.data?.widgets.map((widget) => (
        <One key={widget.id} agentId={agentId} widget={widget} />
      ))}
      none={texts.none}
      add={{ label: texts.make, form: (close) => <WidgetSettings agentId={agentId} onClose={close} /> }}
    />
  );
}

function One({ agentId, widget }: { agentId: string; widget: Widget }) {
  const [isChanging, setChanging] = useState(false);
  const say = useSay();
  const which = () => ({ params: { id: agentId, widgetId: widget.id } });
  const refresh = [web.widgets.list];
  const update = useSend(web.widgets.update, { refresh, done: () => say(texts.saved) });
  const rotate = useAsk(web.widgets.rotate, which, { refresh, done: () => say(texts.saved) });
  const remove = useAsk(web.widgets.remove, which, { refresh, done: () => say(texts.removed) });
  const { enabled, hosted, origins, title } = widget;
  const change = () => setChanging(true);
  const toggle = () => update.mutate({ ...which(), body: { enabled: !enabled } });
  return (
    <Row
      name={title}
      state={{ tone: enabled ? 'ok' : 'neutral', text: enabled ? texts.on : texts.off }}
      detail={texts.spent(exactMoney(widget.spentTodayUsd), exactMoney(widget.dailyCapUsd))}
      acts={[
        { label: connections.change, onClick: change },
        { label: enabled ? texts.switchOff : texts.switchOn, onClick: toggle, busy: update.isPending },
        { label: texts.newKey, onClick: () => rotate.ask(undefined) },
      ]}
      remove={{ ...remove, losses: texts.removeLoss }}
      problem={update.error?.message}
    >
      {origins.length === 0 && !hosted && (
        <Notice tone="spot" title={texts.noSite}>
          <div className="mt-2">
            <Button small onClick={change}>
              {texts.nameSite}
            </Button>
          </div>
        </Notice>
      )}
      {origins.length > 0 && <Code label={texts.code} text={widget.embed} />}
      {hosted && <Code label={texts.page} text={widget.address} />}
      <Suspense>
        {isChanging && <WidgetSettings agentId={agentId} widget={widget} onClose={() => setChanging(false)} />}
      </Suspense>
      <Confirm {...rotate.confirm} title={texts.newKeyTitle} losses={texts.newKeyLoss} action={texts.newKey} />
    </Row>
  );
}
