import { web } from '@troupe/contract';
import type { Endpoint, LiveTopic } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { stale } from '../api.ts';
import type { Connection } from './connection.ts';
import { createLive } from './live.ts';
import type { Live } from './live.ts';
import { createPaced } from './paced.ts';
import { gather } from './pause.ts';

/** What is read again when a part of the platform has changed. */
const READS: Record<LiveTopic, Pick<Endpoint, 'method' | 'path'>[]> = {
  account: [web.session.get, web.billing.get, web.access.get],
  agents: [web.agents.list, web.agents.get, web.teams.list, web.stage.get],
  devices: [web.devices.list],
  evaluations: [web.evaluations.list, web.evaluations.get],
  inbox: [web.inbox.get, web.stage.get, web.conversations.list],
  joining: [web.access.list],
  knowledge: [web.knowledge.list, web.knowledge.listDocuments],
  // What an agent asks to pay is told by a notice.
  notices: [web.notices.list, web.inbox.get],
  providers: [web.providers.list, web.models.list],
  tasks: [web.tasks.list, web.tasks.listRuns],
  usage: [
    web.costs.get,
    web.costs.getOfAll,
    web.costs.getForecast,
    web.costs.getForecastOfAll,
    web.costs.getBudgets,
    web.usage.getCosts,
    web.usage.getCaps,
    web.usage.getTools,
    web.usage.getSummary,
    web.usage.getByAgent,
    web.stage.get,
  ],
  widgets: [web.widgets.list],
  work: [web.stage.get, web.conversations.list, web.channels.list],
};

/** An agent at work changes something several times a second, and what a page may ask in a minute is bounded. */
const MS_BETWEEN_READS = 1000;

const LiveContext = createContext<Live | undefined>(undefined);

/** Opens the tab's stream, and keeps what was read true by it. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [{ live, paced }] = useState(() => {
    const readsOf = (topics: readonly LiveTopic[]) => new Set(topics.flatMap((topic) => READS[topic] ?? []));
    const made = createPaced((topics) => {
      // What this tab is just deleting is not asked for again.
      const isDeleting = queries.isMutating({ mutationKey: [web.agents.remove.path, web.agents.remove.method] }) > 0;
      const reads = readsOf(topics);
      if (isDeleting) reads.delete(web.agents.get);
      // The stream itself brings what changes on a stage that is shown.
      if (opened.hasStage()) reads.delete(web.stage.get);
      void stale(queries, ...reads);
    });
    const changed = gather<LiveTopic>(MS_BETWEEN_READS, (topics) => made.take([...topics]));
    const opened = createLive({
      changed,
      opened: (topics) => {
        if (readsOf(topics).has(web.stage.get)) void stale(queries, web.stage.get);
        changed(topics);
      },
      back: () => void queries.invalidateQueries(),
      signedOut: () => void stale(queries, web.session.get),
    });
    return { live: opened, paced: made };
  });
  useEffect(() => {
    const end = live.start();
    return () => {
      end();
      paced.stop();
    };
  }, [live, paced]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error('there is no live stream around this page');
  return live;
}

const OPENING: Connection = { state: 'opening' };

/** Public pages have no stream, and are never away. */
export function useConnection(): Connection {
  const live = useContext(LiveContext);
  return useSyncExternalStore(
    (tell) => live?.subscribe(tell) ?? (() => {}),
    () => live?.connection() ?? OPENING,
  );
}
