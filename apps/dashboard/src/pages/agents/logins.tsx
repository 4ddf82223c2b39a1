import { web } from '@troupe/contract';
import type { AgentLogin } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { connections } from '../../texts/connections.ts';
import { logins as texts } from '../../texts/logins.ts';
import { Confirm, Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useSay } from '../../ui/toast.tsx';
import { Kind, Row, Rows } from './connections/parts.tsx';
import type { Act } from './connections/parts.tsx';

/** What the agent's browser signs in with: given once, and never shown again. */
export function Logins({ agentId }: { agentId: string }) {
  const [isAdding, setAdding] = useState(false);
  const read = useCall(web.logins.list, { params: { id: agentId } });
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      read={read}
      none={read.data?.logins.length === 0 ? texts.none : undefined}
      add={{ label: texts.add, onClick: () => setAdding(true) }}
    >
      <Rows label={texts.title}>
        {read.data?.logins.map((login) => (
          <One key={login.name} agentId={agentId} login={login} />
        ))}
      </Rows>
      {isAdding && <Add agentId={agentId} onClose={() => setAdding(false)} />}
    </Kind>
  );
}

function One({ agentId, login: { name, origin } }: { agentId: string; login: AgentLogin }) {
  const [removing, setRemoving] = useState(false);
  const say = useSay();
  const remove = useSend(web.logins.remove, { refresh: [web.logins.list], done: () => say(texts.removed) });
  const asking: Act = {
    label: connections.remove,
    named: connections.named(connections.remove, name),
    onClick: () => setRemoving(true),
    isDanger: true,
  };
  return (
    <Row name={name} detail={<code>{origin}</code>} acts={[asking]}>
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={texts.removeTitle(name)}
        losses={texts.removeLoss}
        action={connections.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params: { id: agentId, name } })}
      />
    </Row>
  );
}

const EMPTY = { name: '', origin: '', username: '', password: '' };

function Add({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const [form, setForm] = useState(EMPTY);
  const say = useSay();
  const save = useSend(web.logins.save, {
    refresh: [web.logins.list],
    done: () => {
      say(texts.saved);
      onClose();
    },
  });
  const submit = () => {
    const { name, ...body } = form;
    save.mutate({ params: { id: agentId, name: name.trim() }, body });
  };
  const field = (name: keyof typeof EMPTY, more: { placeholder?: string; hint?: string; type?: string } = {}) => (
    <TextField
      label={texts.fields[name]}
      name={name}
      required
      autoComplete="off"
      value={form[name]}
      onChange={({ target }) => setForm({ ...form, [name]: target.value })}
      {...more}
    />
  );
  return (
    <Dialog open onClose={onClose} title={texts.add} hint={texts.hint}>
      <Form error={save.error} fields={['name', 'origin', 'username', 'password']} onSubmit={submit}>
        {field('name', { placeholder: 'shop' })}
        {field('origin', { placeholder: 'https://shop.example', hint: texts.originHint })}
        {field('username')}
        {field('password', { type: 'password' })}
        <DialogEnd send={save} onClose={onClose} action={texts.save} />
      </Form>
    </Dialog>
  );
}
