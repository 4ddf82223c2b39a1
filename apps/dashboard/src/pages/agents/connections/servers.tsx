import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { lazy } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { connections, servers as texts } from '../../../texts/connections.ts';
import { useAsk } from '../../../ui/ask.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Insist } from '../evaluations/insist.tsx';
import { Kind, Pinned, Row, SERVER_TONE } from './parts.tsx';

/** Seldom opened: it comes when it is. */
const Attach = lazy(() => import('./attach.tsx').then((page) => ({ default: page.Attach })));

type Server = TypesOf<typeof web.connections.list>['reply']['servers'][number];

const REFRESH = { refresh: [web.connections.list] };

const triedOf = ({ at }: Server): string => (at === undefined ? '' : ` · ${texts.lastTried(ago(at))}`);

/** MCP servers: their tools are the agent's. */
export function Servers({ agentId }: { agentId: string }) {
  const read = useCall(web.connections.list, { params: { id: agentId } });
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      read={read}
      rows={read.data?.servers.map((server) =>
        server.inherited ? (
          <Inherited key={server.name} agentId={agentId} server={server} />
        ) : (
          <One key={server.name} agentId={agentId} server={server} />
        ),
      )}
      none={texts.none}
      add={{ label: texts.add, form: (close) => <Attach agentId={agentId} onClose={close} /> }}
    >
      <div className="mt-3">
        <LinkButton small kind="quiet" to="/dashboard/mcp-servers">
          {texts.ofAll}
        </LinkButton>
      </div>
    </Kind>
  );
}

function One({ agentId, server }: { agentId: string; server: Server }) {
  const say = useSay();
  const { name, url, state } = server;
  const which = { params: { id: agentId, name } };
  const test = useSend(web.connections.test, REFRESH);
  const connect = useSend(web.connections.connect, {
    ...REFRESH,
    done: (asked) => (asked.url === null ? say(texts.alreadyThere) : location.assign(asked.url)),
  });
  const update = useSend(web.connections.update, { ...REFRESH, done: ({ pin }) => say(texts.updated(pin.version)) });
  const remove = useAsk(web.connections.remove, (query: { force?: 'true' } = {}) => ({ ...which, query }), {
    ...REFRESH,
    done: () => say(texts.removed),
  });
  const tries = { onClick: () => test.mutate(which), busy: test.isPending };
  const connecting =
    url === undefined ? [] : [{ label: texts.connect, onClick: () => connect.mutate(which), busy: connect.isPending }];
  return (
    <Row
      name={name}
      state={{ tone: SERVER_TONE[state], text: texts.states[state] }}
      detail={
        <>
          <code>{url ?? [server.command, ...server.args].join(' ')}</code>
          {triedOf(server)}
        </>
      }
      acts={[
        { label: connections.test, ...tries },
        ...connecting,
        ...(server.pin ? [{ label: texts.update, onClick: () => update.mutate(which), busy: update.isPending }] : []),
      ]}
      remove={{ ...remove, losses: texts.removeLoss }}
      problem={
        (test.error ?? connect.error ?? update.error)?.message ?? (server.error ? texts.why(server.error) : undefined)
      }
      remedies={[{ label: connections.tryNow, ...tries }, ...(state === 'consent' ? connecting : [])]}
    >
      {server.pin && <Pinned pin={server.pin} />}
      {server.offered && <p className="text-[0.9rem] break-words text-ink-soft">{texts.offers(server.offered)}</p>}
      <Insist error={remove.confirm.error} onForce={() => remove.ask({ force: 'true' })} />
    </Row>
  );
}

/** One of all agents: it is changed there, and can be done without here. */
function Inherited({ agentId, server }: { agentId: string; server: Server }) {
  const { name, state, off } = server;
  const which = { params: { id: agentId, name } };
  const test = useSend(web.connections.test, REFRESH);
  const use = useSend(web.connections.use, REFRESH);
  const set = (query: { force?: 'true' } = {}) => use.mutate({ ...which, query, body: { use: off === true } });
  const tries = { label: connections.test, onClick: () => test.mutate(which), busy: test.isPending };
  return (
    <Row
      name={name}
      state={off ? { tone: 'neutral', text: texts.isOff } : { tone: SERVER_TONE[state], text: texts.states[state] }}
      detail={`${texts.inherited}${triedOf(server)}`}
      acts={[
        ...(off ? [] : [tries]),
        { label: off ? texts.switchOn : texts.switchOff, onClick: () => set(), busy: use.isPending },
      ]}
      problem={(test.error ?? use.error)?.message ?? (!off && server.error ? texts.why(server.error) : undefined)}
    >
      {!off && server.offered && (
        <p className="text-[0.9rem] break-words text-ink-soft">{texts.offers(server.offered)}</p>
      )}
      <Insist error={use.error} onForce={() => set({ force: 'true' })} />
    </Row>
  );
}
