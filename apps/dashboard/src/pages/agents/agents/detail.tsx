import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { SANDBOX_MODEL } from '@troupe/domain';
import { lazy } from 'react';
import type { ReactNode } from 'react';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { statusOf, useCall, useSend } from '../../../api.ts';
import { modelName } from '../../../models.ts';
import { useSession } from '../../../session.ts';
import { agentStates } from '../../../texts/agent-states.ts';
import { agent as texts, chat } from '../../../texts/agents.ts';
import { IconButton } from '../../../ui/button.tsx';
import { Badge, Notice, Status } from '../../../ui/card.tsx';
import { Mask } from '../../../ui/icons.tsx';
import { Page } from '../../../ui/page.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { SwitchedOff } from '../conversations/switched-off.tsx';
import { files } from '../../../texts/talk.ts';
import { tabOf } from './places.ts';
import { isPinned, withPin } from './tags.ts';

// Loaded when its tab is opened: none needs what is only in another.
const Chat = lazy(() => import('../conversations/chat.tsx').then((page) => ({ default: page.Chat })));
const Connections = lazy(() =>
  import('../connections/connections.tsx').then((page) => ({ default: page.Connections })),
);
const Files = lazy(() => import('../files/files.tsx').then((page) => ({ default: page.Files })));
const MemoryTab = lazy(() => import('../memory.tsx').then((page) => ({ default: page.MemoryTab })));
const Settings = lazy(() => import('./settings.tsx').then((page) => ({ default: page.Settings })));
const Work = lazy(() => import('../work/work.tsx').then((page) => ({ default: page.Work })));

export default function AgentDetail() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { tab, part } = tabOf(useSearch({ strict: false }));
  const navigate = useNavigate();
  const go: Go = (search) => void navigate({ to: '.', search: search as never, replace: true });
  const read = useCall(web.agents.get, { params: { id } });
  const teams = useCall(web.teams.list, {}, { enabled: Boolean(read.data?.agent.teamId) });
  const back = { to: '/dashboard/agents', label: texts.back };
  if (!read.data) {
    return (
      <Page title={texts.tabs} back={back}>
        {statusOf(read.error) === 404 ? (
          <Notice tone="spot">{texts.notFound}</Notice>
        ) : read.error ? (
          <Failure error={read.error} retry={() => void read.refetch()} />
        ) : (
          <Lines rows={6} />
        )}
      </Page>
    );
  }
  const { agent } = read.data;
  const team = teams.data?.teams.find(({ teamId }) => teamId === agent.teamId);
  return (
    <Page
      title={agent.name}
      back={back}
      mark={<Mask seed={agent.id} size={34} />}
      isLow
      isWide
      corner={<Pin agent={agent} />}
      lead={<Lead agent={agent} team={team} />}
    >
      <Tabs label={texts.tabs} value={tab} onChange={(next) => go({ tab: next })} tabs={tabsOf(agent, part, go)} />
    </Page>
  );
}

type Go = (search: { tab: string; part?: string }) => void;

function tabsOf(agent: WebAgent, part: string | undefined, go: Go) {
  const { id } = agent;
  const kept = (content: ReactNode) => () => <Kept agent={agent}>{content}</Kept>;
  return [
    { key: 'chat', label: texts.talk, content: kept(<Chat agent={agent} />) },
    { key: 'files', label: files.tab, content: kept(<Files agentId={id} />) },
    {
      key: 'work',
      label: texts.work,
      content: kept(<Work agentId={id} view={part} onView={(view) => go({ tab: 'work', part: view })} />),
    },
    { key: 'memory', label: texts.memory, content: kept(<MemoryTab agentId={id} />) },
    { key: 'connections', label: texts.connections, content: () => <Connections agentId={id} /> },
    {
      key: 'settings',
      label: texts.settings,
      content: () => <Settings agent={agent} part={part} onPart={(next) => go({ tab: 'settings', part: next })} />,
    },
  ];
}

/** What an agent has kept. Nobody else has what one in a container keeps: while that is off nobody is asked. */
function Kept({ agent, children }: { agent: WebAgent; children: ReactNode }) {
  if (!agent.outside || agent.status !== 'stopped') return children;
  return <SwitchedOff agentId={agent.id} says={chat.outOfReach(agent.name)} />;
}

function Pin({ agent }: { agent: WebAgent }) {
  const pinned = isPinned(agent);
  const send = useSend(web.agents.tag, { refresh: [web.agents.list, web.agents.get] });
  return (
    <IconButton
      icon="pin"
      label={pinned ? texts.unpin : texts.pin}
      aria-pressed={pinned}
      disabled={send.isPending}
      className={pinned ? 'text-accent-ink' : undefined}
      onClick={() => send.mutate({ params: { id: agent.id }, body: { tags: withPin(agent.tags, !pinned) } })}
    />
  );
}

function Lead({ agent, team }: { agent: WebAgent; team: { name: string } | undefined }) {
  const { user } = useSession();
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Status value={agent.status} text={agentStates[agent.status]} />
      <span title={agent.answers}>
        {modelName(agent.answers)}
        {agent.answers !== agent.model && (
          // On a phone the head must leave room for the conversation.
          <span className="text-ink-faint max-sm:sr-only"> {texts.insteadOf(modelName(agent.model))}</span>
        )}
      </span>
      {agent.answers === SANDBOX_MODEL && agent.answers !== agent.model && user?.isAdmin && (
        <Link to="/dashboard/admin" search={{ tab: 'providers' } as never} className="link">
          {texts.setUpProvider}
        </Link>
      )}
      {team && (
        <Link to="/dashboard/teams" search={{ tab: 'own' } as never} className="link">
          {team.name}
        </Link>
      )}
      {agent.verified && <Badge tone="ok">{texts.verified}</Badge>}
      {agent.failure && <span className="text-danger">{agent.failure}</span>}
    </span>
  );
}
