import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { lazy, Suspense, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { connections, servers as texts } from '../../../texts/connections.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Insist } from '../evaluations/insist.tsx';
import { Kind, Pinned, Row, Rows } from './parts.tsx';
import type { Act } from './parts.tsx';

/** Seldom opened: it comes when it is. */
const Attach = lazy(() => import('./attach.tsx').then((page) => ({ default: page.Attach })));

type Server = TypesOf<typeof web.connections.list>['reply']['servers'][number];

const TONE = { unused: 'neutral', connected: 'ok', failed: 'danger', consent: 'spot' } as const;

/** MCP servers: their tools are the agent's. */
export function Servers({ agentId }: { agentId: string }) {
  const [isAdding, setAdding] = useState(false);
  const read = useCall(web.connections.list, { params: { id: agentId } });
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      read={read}
      none={read.data?.servers.length === 0 ? texts.none : undefined}
      add={{ label: texts.add, onClick: () => setAdding(true) }}
    >
      <Rows label={texts.title}>
        {read.data?.servers.map((server) =>
          server.inherited ? (
            <Inherited key={server.name} agentId={agentId} server={server} />
          ) : (
            <One key={server.name} agentId={agentId} server={server} />
          ),
        )}
      </Rows>
      <div className="mt-3">
        <LinkButton small kind="quiet" to="/dashboard/mcp-servers">
          {texts.ofAll}
        </LinkButton>
      </div>
      <Suspense>{isAdding && <Attach agentId={agentId} onClose={() => setAdding(false)} />}</Suspense>
    </Kind>
  );
}

function One({ agentId, server }: { agentId: string; server: Server }) {
  const [removing, setRemoving] = useState(false);
  const say = useSay();
  const { name, url, state } = server;
  const which = { params: { id: agentId, name } };
  const test = useSend(web.connections.test, { refresh: [web.connections.list] });
  const connect = useSend(web.connections.connect, {
    refresh: [web.connections.list],
    done: (asked) => (asked.url === null ? say(texts.alreadyThere) : location.assign(asked.url)),
  });
  const remove = useSend(web.connections.remove, { refresh: [web.connections.list], done: () => say(texts.removed) });
  const act = (label: string, onClick: () => void, busy = false): Act => ({
    label,
    named: connections.named(label, name),
    onClick,
    busy,
  });
  const update = useSend(web.connections.update, {
    refresh: [web.connections.list],
    done: ({ pin }) => say(texts.updated(pin.version)),
  });
  const updating = server.pin ? [act(texts.update, () => update.mutate(which), update.isPending)] : [];
  const connecting = url === undefined ? [] : [act(texts.connect, () => connect.mutate(which), connect.isPending)];
  const wrong =
    (test.error ?? connect.error ?? update.error)?.message ?? (server.error ? texts.why(server.error) : undefined);
  const remedies = [
    act(connections.tryNow, () => test.mutate(which), test.isPending),
    ...(state === 'consent' ? connecting : []),
  ];
  return (
    <Row
      name={name}
      state={{ tone: TONE[state], text: texts.states[state] }}
      detail={<code>{url ?? [server.command, ...server.args].join(' ')}</code>}
      acts={[
        act(connections.test, () => test.mutate(which), test.isPending),
        ...connecting,
        ...updating,
        { ...act(connections.remove, () => setRemoving(true)), isDanger: true },
      ]}
      problem={wrong === undefined ? undefined : { text: wrong, acts: remedies }}
    >
      {server.pin && <Pinned pin={server.pin} />}
      {server.offered && <p className="text-[0.9rem] break-words text-ink-soft">{texts.offers(server.offered)}</p>}
      <Insist error={remove.error} onForce={() => remove.mutate({ ...which, query: { force: 'true' } })} />
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={connections.removeTitle(name)}
        losses={texts.removeLoss}
        action={connections.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(which)}
      />
    </Row>
  );
}

/** One of all agents: it is changed there, and can be done without here. */
function Inherited({ agentId, server }: { agentId: string; server: Server }) {
  const { name, state, off } = server;
  const which = { params: { id: agentId, name } };
  const test = useSend(web.connections.test, { refresh: [web.connections.list] });
  const use = useSend(web.connections.use, { refresh: [web.connections.list] });
  const act = (label: string, onClick: () => void, busy: boolean): Act => ({
    label,
    named: connections.named(label, name),
    onClick,
    busy,
  });
  const set = (query: { force?: 'true' } = {}) => use.mutate({ ...which, query, body: { use: off === true } });
  const wrong = (test.error ?? use.error)?.message ?? (!off && server.error ? texts.why(server.error) : undefined);
  return (
    <Row
      name={name}
      state={off ? { tone: 'neutral', text: texts.isOff } : { tone: TONE[state], text: texts.states[state] }}
      detail={texts.inherited}
      acts={[
        ...(off ? [] : [act(connections.test, () => test.mutate(which), test.isPending)]),
        act(off ? texts.switchOn : texts.switchOff, () => set(), use.isPending),
      ]}
      problem={wrong === undefined ? undefined : { text: wrong, acts: [] }}
    >
      {!off && server.offered && (
        <p className="text-[0.9rem] break-words text-ink-soft">{texts.offers(server.offered)}</p>
      )}
      <Insist error={use.error} onForce={() => set({ force: 'true' })} />
    </Row>
  );
}
