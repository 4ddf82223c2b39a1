import type { ReactNode } from 'react';
import { statusOf } from '../../../api.ts';
import { copyText } from '../../../copying.ts';
import { states } from '../../../texts/common.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Page } from '../../../ui/page.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import type { useRun } from './use-run.ts';

/** The address names no run. */
export function NoRun() {
  return (
    <Page title={texts.title} back={{ to: '/dashboard/agents', label: texts.agents }}>
      <Notice tone="spot">{texts.notFound}</Notice>
    </Page>
  );
}

/** What was read of a run, or why it is not there. */
export function RunRead({
  of: { read, run },
  children,
}: {
  of: Pick<ReturnType<typeof useRun>, 'read' | 'run'>;
  children: ReactNode;
}) {
  const isGone = read.error ? statusOf(read.error) === 404 : read.data !== undefined && run.bars.length === 0;
  if (isGone) return <Notice tone="spot">{texts.notFound}</Notice>;
  if (read.error) return <Failure error={read.error} retry={() => void read.refetch()} />;
  return read.data ? <>{children}</> : <Lines rows={6} />;
}

/** Of the page as it is looked at: whoever may see the agent sees the same step. */
export function useCopyLink(): () => void {
  const say = useSay();
  return () =>
    void copyText(location.href).then((well) => (well ? say(states.copied) : say(states.failed, states.notCopied)));
}

export function CopyLink({ small }: { small?: boolean }) {
  return (
    <Button small={small} icon="copy" onClick={useCopyLink()}>
      {texts.copyLink}
    </Button>
  );
}
