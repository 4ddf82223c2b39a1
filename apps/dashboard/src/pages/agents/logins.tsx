import { web } from '@troupe/contract';
import type { AgentLogin } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { logins as texts } from '../../texts/logins.ts';
import { useAsk } from '../../ui/ask.ts';
import { Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useSay } from '../../ui/toast.tsx';
import { Kind, Row } from './connections/parts.tsx';

/** What the agent's browser signs in with: given once, and never shown again. */
export function Logins({ agentId }: { agentId: string }) {
  const read = useCall(web.logins.list, { params: { id: agentId } });
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      read={read}
      rows={read.data?.logins.map((login) => (
        <One key={login.name} agentId={agentId} login={login} />
      ))}
      none={texts.none}
      add={{ label: texts.add, form: (close) => <Add agentId={agentId} onClose={close} /> }}
    />
  );
}

function One({ agentId, login: { name, origin } }: { agentId: string; login: AgentLogin }) {
  const say = useSay();
  const remove = useAsk(web.logins.remove, () => ({ params: { id: agentId, name } }), {
    refresh: [web.logins.list],
    done: () => say(texts.removed),
  });
  return (
    <Row
      name={name}
      detail={<code>{origin}</code>}
      remove={{ ...remove, title: texts.removeTitle(name), losses: texts.removeLoss }}
    />
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
