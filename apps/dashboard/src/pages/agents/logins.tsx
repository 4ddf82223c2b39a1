import { web } from '@troupe/contract';
import type { AgentLogin } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { logins as texts } from '../../texts/logins.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { Failure, Lines } from '../../ui/states.tsx';
import { useSay } from '../../ui/toast.tsx';

/** What the agent's browser signs in with: given once, and never shown again. */
export function Logins({ agentId }: { agentId: string }) {
  const read = useCall(web.logins.list, { params: { id: agentId } });
  return (
    <Card title={texts.title} hint={texts.hint}>
      {read.error && <Failure error={read.error} retry={() => void read.refetch()} />}
      {!read.data && !read.error && <Lines rows={2} />}
      {read.data?.logins.length === 0 && <p className="text-ink-soft">{texts.none}</p>}
      <ul className="flex flex-col gap-3">
        {read.data?.logins.map((login) => (
          <Row key={login.name} agentId={agentId} login={login} />
        ))}
      </ul>
      <Add agentId={agentId} />
    </Card>
  );
}

function Row({ agentId, login: { name, origin } }: { agentId: string; login: AgentLogin }) {
  const [removing, setRemoving] = useState(false);
  const say = useSay();
  const remove = useSend(web.logins.remove, { refresh: [web.logins.list], done: () => say(texts.removed) });
  return (
    <li className="flex flex-wrap items-center gap-3 rounded-xl border border-line px-4 py-3">
      <span className="font-medium">{name}</span>
      <code className="min-w-0 flex-1 text-[0.87rem] break-all text-ink-soft">{origin}</code>
      <Button small kind="danger" onClick={() => setRemoving(true)}>
        {texts.remove}
      </Button>
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={texts.removeTitle(name)}
        losses={texts.removeLoss}
        action={texts.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params: { id: agentId, name } })}
      />
    </li>
  );
}

const EMPTY = { name: '', origin: '', username: '', password: '' };

function Add({ agentId }: { agentId: string }) {
  const [form, setForm] = useState(EMPTY);
  const say = useSay();
  const save = useSend(web.logins.save, {
    refresh: [web.logins.list],
    done: () => {
      setForm(EMPTY);
      say(texts.saved);
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
    <Form
      error={save.error}
      fields={['name', 'origin', 'username', 'password']}
      onSubmit={submit}
      className="mt-5 flex max-w-xl flex-col gap-4"
    >
      {field('name', { placeholder: 'shop' })}
      {field('origin', { placeholder: 'https://shop.example', hint: texts.originHint })}
      {field('username')}
      {field('password', { type: 'password' })}
      <Refused error={save.error} />
      <div>
        <Button kind="primary" type="submit" icon="plus" busy={save.isPending}>
          {texts.save}
        </Button>
      </div>
    </Form>
  );
}
