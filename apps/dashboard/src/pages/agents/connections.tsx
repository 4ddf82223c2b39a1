import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { connections as texts } from '../../texts/agents.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, Notice } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { Failure, Lines } from '../../ui/states.tsx';
import { useSay } from '../../ui/toast.tsx';
import { Channels } from './channels/channels.tsx';
import { Logins } from './logins.tsx';
import { Widgets } from './widgets/widgets.tsx';
import { isService, NO_SERVER, serverBody } from './mcp-server.ts';
import { Insist } from './evaluations/insist.tsx';

type Server = TypesOf<typeof web.connections.list>['reply']['servers'][number];

const TONE = { unused: 'neutral', connected: 'ok', failed: 'danger', consent: 'spot' } as const;

/** Where people reach the agent, MCP servers whose tools it uses, and what its browser signs in with. */
export function Connections({ agentId }: { agentId: string }) {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const read = useCall(web.connections.list, { params: { id: agentId } });
  return (
    <div className="flex flex-col gap-5">
      {search['connected'] && <Notice tone="ok">{texts.isConnected(search['connected'])}</Notice>}
      {search['refused'] && <Notice tone="spot">{texts.isRefused(search['refused'])}</Notice>}
      {search['failed'] && <Notice tone="danger">{texts.isFailed(search['failed'])}</Notice>}
      <Channels agentId={agentId} />
      <Widgets agentId={agentId} />
      <Card title={texts.title} hint={texts.hint}>
        {read.error && <Failure error={read.error} retry={() => void read.refetch()} />}
        {!read.data && !read.error && <Lines rows={3} />}
        {read.data?.servers.length === 0 && <p className="text-ink-soft">{texts.none}</p>}
        <ul className="flex flex-col gap-4">
          {read.data?.servers.map((server) => (
            <Row key={server.name} agentId={agentId} server={server} />
          ))}
        </ul>
      </Card>
      <Attach agentId={agentId} />
      <Logins agentId={agentId} />
    </div>
  );
}

function Row({ agentId, server }: { agentId: string; server: Server }) {
  const [removing, setRemoving] = useState(false);
  const say = useSay();
  const which = { params: { id: agentId, name: server.name } };
  const test = useSend(web.connections.test, { refresh: [web.connections.list] });
  const connect = useSend(web.connections.connect, {
    refresh: [web.connections.list],
    done: ({ url }) => (url === null ? say(texts.alreadyThere) : location.assign(url)),
  });
  const remove = useSend(web.connections.remove, { refresh: [web.connections.list], done: () => say(texts.removed) });
  const error = test.error ?? connect.error;
  return (
    <li className="flex flex-col gap-2 rounded-xl border border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-3">
        <span className="font-medium">{server.name}</span>
        <Badge tone={TONE[server.state]}>{texts.states[server.state]}</Badge>
        <code className="min-w-0 flex-1 text-[0.87rem] break-all text-ink-soft">
          {server.url ?? [server.command, ...server.args].join(' ')}
        </code>
        <span className="flex flex-wrap gap-2">
          <Button small busy={test.isPending} onClick={() => test.mutate(which)}>
            {texts.test}
          </Button>
          {server.url !== undefined && (
            <Button small busy={connect.isPending} onClick={() => connect.mutate(which)}>
              {texts.connect}
            </Button>
          )}
          <Button small kind="danger" onClick={() => setRemoving(true)}>
            {texts.remove}
          </Button>
        </span>
      </div>
      {server.error && <p className="text-danger">{texts.why(server.error)}</p>}
      {server.offered && <p className="text-[0.9rem] break-words text-ink-soft">{texts.offers(server.offered)}</p>}
      {error && <Notice tone="danger">{error.message}</Notice>}
      <Insist error={remove.error} onForce={() => remove.mutate({ ...which, query: { force: 'true' } })} />
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={texts.removeTitle(server.name)}
        losses={texts.removeLoss}
        action={texts.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(which)}
      />
    </li>
  );
}

function Attach({ agentId }: { agentId: string }) {
  const [form, setForm] = useState(NO_SERVER);
  const say = useSay();
  const attach = useSend(web.connections.attach, {
    refresh: [web.connections.list],
    done: () => {
      setForm(NO_SERVER);
      say(texts.attached);
    },
  });
  const submit = (force?: 'true') => {
    const query = force ? { force } : {};
    attach.mutate({ params: { id: agentId, name: form.name.trim() }, query, body: serverBody(form) });
  };
  return (
    <Card title={texts.attachTitle} hint={texts.attachHint}>
      <Form
        error={attach.error}
        fields={['name', 'url']}
        onSubmit={() => submit()}
        className="flex max-w-xl flex-col gap-4"
      >
        <TextField
          label={texts.name}
          placeholder="github"
          required
          name="name"
          value={form.name}
          onChange={({ target }) => setForm({ ...form, name: target.value })}
        />
        <TextField
          label={texts.address}
          name="url"
          hint={texts.addressHint}
          mono
          required
          value={form.address}
          onChange={({ target }) => setForm({ ...form, address: target.value })}
        />
        <TextArea
          label={isService(form.address) ? texts.headers : texts.env}
          hint={texts.secretsHint}
          mono
          rows={3}
          value={form.secrets}
          onChange={({ target }) => setForm({ ...form, secrets: target.value })}
        />
        <Refused error={attach.error} />
        <Insist error={attach.error} onForce={() => submit('true')} />
        <div>
          <Button kind="primary" type="submit" icon="plus" busy={attach.isPending}>
            {texts.attach}
          </Button>
        </div>
      </Form>
    </Card>
  );
}
