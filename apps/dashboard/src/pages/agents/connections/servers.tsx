import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { connections, servers as texts } from '../../../texts/connections.ts';
import { Confirm, Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Insist } from '../evaluations/insist.tsx';
import { isService, NO_SERVER, serverBody } from './mcp-server.ts';
import { Kind, Row, Rows } from './parts.tsx';
import type { Act } from './parts.tsx';

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
        {read.data?.servers.map((server) => (
          <One key={server.name} agentId={agentId} server={server} />
        ))}
      </Rows>
      {isAdding && <Attach agentId={agentId} onClose={() => setAdding(false)} />}
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
  const connecting = url === undefined ? [] : [act(texts.connect, () => connect.mutate(which), connect.isPending)];
  const wrong = (test.error ?? connect.error)?.message ?? (server.error ? texts.why(server.error) : undefined);
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
        { ...act(connections.remove, () => setRemoving(true)), isDanger: true },
      ]}
      problem={wrong === undefined ? undefined : { text: wrong, acts: remedies }}
    >
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

function Attach({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const [form, setForm] = useState(NO_SERVER);
  const say = useSay();
  const attach = useSend(web.connections.attach, {
    refresh: [web.connections.list],
    done: () => {
      say(texts.attached);
      onClose();
    },
  });
  const submit = (force?: 'true') => {
    const query = force ? { force } : {};
    attach.mutate({ params: { id: agentId, name: form.name.trim() }, query, body: serverBody(form) });
  };
  return (
    <Dialog open onClose={onClose} title={texts.add} hint={texts.attachHint}>
      <Form error={attach.error} fields={['name', 'url']} onSubmit={() => submit()}>
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
        {isService(form.address) && <Registered form={form} onChange={setForm} />}
        <Insist error={attach.error} onForce={() => submit('true')} />
        <DialogEnd send={attach} onClose={onClose} action={texts.attach} />
      </Form>
    </Dialog>
  );
}

/** What its maker gave somebody by hand who wants access. */
function Registered({ form, onChange }: { form: typeof NO_SERVER; onChange: (form: typeof NO_SERVER) => void }) {
  return (
    <>
      <TextField
        label={texts.clientId}
        hint={texts.clientIdHint(`${location.origin}/api/mcp/callback`)}
        mono
        value={form.clientId}
        onChange={({ target }) => onChange({ ...form, clientId: target.value })}
      />
      <TextField
        label={texts.clientSecret}
        hint={texts.clientSecretHint}
        mono
        type="password"
        autoComplete="off"
        value={form.clientSecret}
        onChange={({ target }) => onChange({ ...form, clientSecret: target.value })}
      />
    </>
  );
}
