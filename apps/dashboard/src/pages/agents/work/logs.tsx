import { web } from '@troupe/contract';
import { useEffect, useState } from 'react';
import { urlOf, useCall } from '../../../api.ts';
import { time } from '../../../format.ts';
import { logs as texts } from '../../../texts/work.ts';
import { Badge, Card } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { SelectField } from '../../../ui/field.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { entriesShown, withEntry } from './log-entries.ts';
import type { Entry } from './log-entries.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'];
export const COLOURS: Record<string, string> = {
  error: 'text-danger',
  warn: 'text-spot',
  info: 'text-info',
  debug: 'text-ink-faint',
};

export function Logs({ agentId }: { agentId: string }) {
  const [level, setLevel] = useState<Entry['level'] | ''>('');
  const read = useCall(web.agents.getLogs, {
    params: { id: agentId },
    query: { limit: '100', ...(level && { level }) },
  });
  const { fresh, live } = useLiveLogs(agentId);
  return (
    <Card
      title={texts.title}
      actions={
        <div className="flex items-center gap-3">
          <Badge tone={live ? 'ok' : 'neutral'}>{live ? texts.live : texts.connecting}</Badge>
          <SelectField
            label={texts.level}
            hideLabel
            value={level}
            onChange={({ target }) => setLevel(target.value as Entry['level'] | '')}
            choices={[{ value: '', label: texts.all }, ...LEVELS.map((value) => ({ value, label: value }))]}
          />
        </div>
      }
    >
      <Loaded from={read}>
        {({ logs }) => {
          const all = entriesShown(fresh, logs, level);
          return all.length === 0 ? <Empty title={texts.empty} /> : <Entries entries={all} />;
        }}
      </Loaded>
    </Card>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  return (
    <ol
      tabIndex={0}
      aria-label={texts.title}
      className="max-h-[60dvh] overflow-y-auto rounded-xl bg-sunken p-3 font-mono text-[0.83rem] leading-relaxed"
    >
      {entries.map((entry) => (
        <li key={entry.id} className="flex flex-wrap gap-x-3 border-b border-line/60 py-1 last:border-0">
          <span className="num text-ink-faint">{time(entry.timestamp)}</span>
          <span className={cx('w-11 font-semibold', COLOURS[entry.level])}>{entry.level}</span>
          <span className="text-ink-faint">{entry.source}</span>
          <span className="min-w-0 basis-full break-words whitespace-pre-wrap sm:flex-1 sm:basis-0">
            {entry.message}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** New entries as they come, newest first. The browser reconnects by itself. */
export function useLiveLogs(agentId: string): { fresh: Entry[]; live: boolean } {
  const [fresh, setFresh] = useState<Entry[]>([]);
  const [live, setLive] = useState(false);
  useEffect(() => {
    const source = new EventSource(urlOf(web.agents.streamLogs, { params: { id: agentId } }));
    source.addEventListener('open', () => setLive(true));
    source.addEventListener('error', () => setLive(false));
    const take = ({ data }: MessageEvent<string>) => {
      const entry = JSON.parse(data) as Entry;
      setFresh((old) => withEntry(old, entry));
    };
    source.addEventListener('message', take);
    source.addEventListener('log', take);
    return () => source.close();
  }, [agentId]);
  return { fresh, live };
}
