import { web } from '@troupe/contract';
import type { UserServer } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { connections, servers as words, userServers as texts } from '../../../texts/connections.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Badge } from '../../../ui/card.tsx';
import { Page } from '../../../ui/page.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Kind, Pinned, Returned, Row, SERVER_TONE } from '../connections/parts.tsx';
import { AddServer, ChangeServer } from './forms.tsx';

const REFRESH = { refresh: [web.servers.list] };

/** MCP servers that belong to the user: their tools are the tools of all agents, or of those that were chosen. */
export default function UserServers() {
  const read = useCall(web.servers.list, {});
  const { servers, most = 0 } = read.data ?? {};
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Returned says={{ ...words, ...texts }} />
      <Kind
        title={texts.title}
        hint={servers ? texts.count(servers.length, most) : ''}
        read={read}
        rows={servers?.map((server) => (
          <One key={server.name} server={server} />
        ))}
        none={texts.none}
        add={{ label: words.add, form: (close) => <AddServer onClose={close} /> }}
      />
    </Page>
  );
}

function One({ server }: { server: UserServer }) {
  const [isChanging, setChanging] = useState(false);
  const say = useSay();
  const { name, url, command = '', args, agents, pin } = server;
  const which = { params: { name } };
  const test = useSend(web.servers.test, REFRESH);
  const update = useSend(web.servers.update, { ...REFRESH, done: (done) => say(words.updated(done.pin.version)) });
  const connect = useSend(web.servers.connect, {
    ...REFRESH,
    done: (asked) => (asked.url === null ? say(texts.alreadyThere) : location.assign(asked.url)),
  });
  const remove = useAsk(web.servers.remove, () => which, { ...REFRESH, done: () => say(words.removed) });
  return (
    <Row
      name={name}
      detail={<code>{url ?? [command, ...args].join(' ')}</code>}
      acts={[
        { label: connections.test, onClick: () => test.mutate({ ...which, body: {} }), busy: test.isPending },
        ...(url === undefined
          ? []
          : [{ label: words.connect, onClick: () => connect.mutate(which), busy: connect.isPending }]),
        ...(pin
          ? [{ label: words.update, onClick: () => update.mutate({ ...which, body: {} }), busy: update.isPending }]
          : []),
        { label: texts.change, onClick: () => setChanging(true) },
      ]}
      remove={{ ...remove, losses: texts.removeLoss }}
      problem={(test.error ?? update.error ?? connect.error)?.message}
    >
      {pin && <Pinned pin={pin} />}
      <Agents agents={agents} />
      {isChanging && <ChangeServer server={server} onClose={() => setChanging(false)} />}
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
            <Badge tone={uses ? SERVER_TONE[state] : 'neutral'}>{uses ? words.states[state] : words.isOff}</Badge>
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
