import { useSearch } from '@tanstack/react-router';
import { web } from '@troupe/contract';
import type { UserServer } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { connections, servers as words, userServers as texts } from '../../../texts/connections.ts';
import { Badge, Notice } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Page } from '../../../ui/page.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Kind, Pinned, Row, Rows } from '../connections/parts.tsx';
import type { Act } from '../connections/parts.tsx';
import { AddServer, ChangeServer } from './forms.tsx';

const TONE = { unused: 'neutral', connected: 'ok', failed: 'danger', consent: 'spot' } as const;
const REFRESH = { refresh: [web.servers.list] };

/** MCP servers that belong to the user: their tools are the tools of all agents, or of those that were chosen. */
export default function UserServers() {
  const [isAdding, setAdding] = useState(false);
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const read = useCall(web.servers.list, {});
  const { servers = [], most = 0 } = read.data ?? {};
  return (
    <Page title={texts.title} lead={texts.lead}>
      {search['connected'] && <Notice tone="ok">{texts.isConnected(search['connected'])}</Notice>}
      {search['refused'] && <Notice tone="spot">{words.isRefused(search['refused'])}</Notice>}
      {search['failed'] && <Notice tone="danger">{texts.isFailed(search['failed'])}</Notice>}
      <Kind
        title={texts.title}
        hint={read.data ? texts.count(servers.length, most) : ''}
        read={read}
        none={read.data && servers.length === 0 ? texts.none : undefined}
        add={{ label: words.add, onClick: () => setAdding(true) }}
      >
        <Rows label={texts.title}>
          {servers.map((server) => (
            <One key={server.name} server={server} />
          ))}
        </Rows>
      </Kind>
      {isAdding && <AddServer onClose={() => setAdding(false)} />}
    </Page>
  );
}

/** What can be done with one. */
function useActs({ name, url, pin }: UserServer) {
  const say = useSay();
  const which = { params: { name } };
  const test = useSend(web.servers.test, REFRESH);
  const update = useSend(web.servers.update, { ...REFRESH, done: (done) => say(words.updated(done.pin.version)) });
  const connect = useSend(web.servers.connect, {
    ...REFRESH,
    done: (asked) => (asked.url === null ? say(texts.alreadyThere) : location.assign(asked.url)),
  });
  const act = (label: string, onClick: () => void, busy = false): Act => ({
    label,
    named: connections.named(label, name),
    onClick,
    busy,
  });
  const error = test.error ?? update.error ?? connect.error;
  return {
    act,
    error: error?.message,
    acts: [
      act(connections.test, () => test.mutate({ ...which, body: {} }), test.isPending),
      ...(url === undefined ? [] : [act(words.connect, () => connect.mutate(which), connect.isPending)]),
      ...(pin ? [act(words.update, () => update.mutate({ ...which, body: {} }), update.isPending)] : []),
    ],
  };
}

function One({ server }: { server: UserServer }) {
  const [open, setOpen] = useState<'change' | 'remove'>();
  const say = useSay();
  const { name, url, command = '', args, agents } = server;
  const { act, acts, error } = useActs(server);
  const close = () => setOpen(undefined);
  const remove = useSend(web.servers.remove, { ...REFRESH, done: () => say(words.removed) });
  return (
    <Row
      name={name}
      detail={<code>{url ?? [command, ...args].join(' ')}</code>}
      acts={[
        ...acts,
        act(texts.change, () => setOpen('change')),
        { ...act(connections.remove, () => setOpen('remove')), isDanger: true },
      ]}
      problem={error === undefined ? undefined : { text: error, acts: [] }}
    >
      {server.pin && <Pinned pin={server.pin} />}
      <Agents agents={agents} />
      {open === 'change' && <ChangeServer server={server} onClose={close} />}
      <Confirm
        open={open === 'remove'}
        onClose={close}
        title={connections.removeTitle(name)}
        losses={texts.removeLoss}
        action={connections.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params: { name } })}
      />
    </Row>
  );
}

function Agents({ agents }: Pick<UserServer, 'agents'>) {
  const troubled = agents.filter(({ uses, error }) => uses && error !== undefined);
  if (agents.length === 0) return <p className="text-[0.9rem] text-ink-soft">{texts.noAgents}</p>;
  return (
    <>
      <ul aria-label={texts.agents} className="flex flex-wrap gap-x-4 gap-y-1.5 text-[0.9rem]">
        {agents.map(({ agentId, name, uses, state }) => (
          <li key={agentId} className="flex min-w-0 items-center gap-2">
            <bdi className="min-w-0 break-words">{name}</bdi>
            <Badge tone={uses ? TONE[state] : 'neutral'}>{uses ? words.states[state] : words.isOff}</Badge>
          </li>
        ))}
      </ul>
      {troubled.map(({ agentId, name, error = '' }) => (
        <p key={agentId} className="text-[0.9rem] break-words text-danger">
          {texts.why(name, error)}
        </p>
      ))}
    </>
  );
}
