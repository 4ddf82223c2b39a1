import { CHANNEL_FIELDS, web, type AgentChannel, type ChannelField } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { channels as texts } from '../../../texts/channels.ts';
import { states } from '../../../texts/common.ts';
import { Code } from '../../../ui/code.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { channelBody, formOf } from './channel-form.ts';

interface Props {
  agentId: string;
  channel: AgentChannel;
  onClose: () => void;
  /** It is set up, and nothing else has to be told to the service. */
  onSaved: () => void;
}

const nameOf = (field: string): string => `settings.${field}`;
const fieldsOf = (kind: AgentChannel['kind']): string[] => [
  ...CHANNEL_FIELDS[kind].map(({ name }) => nameOf(name)),
  'allowed',
];

/** What to do where, and what to bring back from there. */
export function SetUp({ agentId, channel, onClose, onSaved }: Props) {
  const { kind, webhook, secrets } = channel;
  const [form, setForm] = useState(() => formOf(channel));
  const say = useSay();
  const set = useSend(web.channels.set, {
    refresh: [web.channels.list],
    done: ({ channel: saved }) => {
      say(texts.saved(saved.state));
      // Where the service has to be told an address, it is there now to be copied.
      if (saved.webhook === null) onSaved();
    },
  });
  const submit = () => {
    set.mutate({ params: { id: agentId, kind }, body: channelBody(channel, form) });
  };
  const change = (name: string, value: string) => setForm({ ...form, values: { ...form.values, [name]: value } });
  return (
    <Dialog open onClose={onClose} title={texts.setTitle(texts.names[kind])} wide>
      <ol className="mb-4 flex list-decimal flex-col gap-1 pl-5 text-ink-soft">
        {texts.steps[kind].map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <Form error={set.error} fields={fieldsOf(kind)} onSubmit={submit}>
        {CHANNEL_FIELDS[kind].map((field) => (
          <Entry
            key={field.name}
            field={field}
            isKept={secrets.includes(field.name)}
            value={form.values[field.name] ?? ''}
            onChange={(value) => change(field.name, value)}
          />
        ))}
        <TextArea
          label={texts.allowed}
          name="allowed"
          hint={kind === 'email' ? texts.allowedByMail : texts.allowedHint}
          rows={3}
          value={form.allowed}
          onChange={({ target }) => setForm({ ...form, allowed: target.value })}
        />
        {webhook !== null && <Code label={texts.webhook} text={webhook} />}
        <DialogEnd send={set} onClose={onClose} {...(set.isSuccess && { leave: states.close })} />
      </Form>
    </Dialog>
  );
}

interface EntryProps {
  field: ChannelField;
  isKept: boolean;
  value: string;
  onChange: (value: string) => void;
}

function Entry({ field: { name, isSecret, isRequired, choices }, isKept, value, onChange }: EntryProps) {
  const label = texts.fields[name] ?? name;
  if (choices) {
    const all = choices.map((choice) => ({ value: choice, label: texts.securities[choice] ?? choice }));
    return (
      <SelectField
        label={label}
        choices={[{ value: '', label: texts.standard }, ...all]}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  }
  return (
    <TextField
      label={label}
      name={nameOf(name)}
      hint={isKept ? texts.kept : isRequired ? undefined : texts.optional}
      required={isRequired === true && !isKept}
      type={isSecret ? 'password' : 'text'}
      autoComplete="off"
      mono
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
