import { web, type AgentDoor } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { numberOf } from '../../../checks.ts';
import { door as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CheckField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

/** Whose messages the agent takes beside those of the user's own agents. */
export function Door({ agentId }: { agentId: string }) {
  const read = useCall(web.bus.getDoor, { params: { agentId } });
  return (
    <Card title={texts.title} hint={texts.hint}>
      <Loaded from={read}>{(was) => <DoorForm key={JSON.stringify(was)} was={was} />}</Loaded>
    </Card>
  );
}

function DoorForm({ was }: { was: AgentDoor }) {
  const [open, setOpen] = useState(was.open);
  const [contacts, setContacts] = useState(was.contacts.join('\n'));
  const [perDay, setPerDay] = useState(String(was.messagesPerDay));
  const [perSender, setPerSender] = useState(String(was.messagesPerSender));
  const say = useSay();
  const save = useSend(web.bus.setDoor, { refresh: [web.bus.getDoor], done: () => say(texts.saved) });
  return (
    <Form
      className="flex flex-col gap-5"
      error={save.error}
      fields={['contacts', 'messagesPerDay', 'messagesPerSender']}
      onSubmit={() => {
        const body = {
          open,
          contacts: contacts.split(/\s+/).filter((id) => id !== ''),
          messagesPerDay: numberOf(perDay),
          messagesPerSender: numberOf(perSender),
        };
        save.mutate({ params: { agentId: was.agentId }, body });
      }}
    >
      <CheckField
        label={texts.open}
        hint={texts.openHint}
        checked={open}
        onChange={({ target }) => setOpen(target.checked)}
      />
      <TextArea
        label={texts.contacts}
        name="contacts"
        hint={texts.contactsHint}
        rows={3}
        mono
        value={contacts}
        onChange={({ target }) => setContacts(target.value)}
      />
      <Budget
        used={was.usedToday}
        perDay={perDay}
        setPerDay={setPerDay}
        perSender={perSender}
        setPerSender={setPerSender}
      />
      <Refused error={save.error} />
      <div>
        <Button kind="primary" type="submit" busy={save.isPending}>
          {texts.save}
        </Button>
      </div>
    </Form>
  );
}

/** How many messages of others a day. */
function Budget({
  used,
  perDay,
  setPerDay,
  perSender,
  setPerSender,
}: {
  used: number;
  perDay: string;
  setPerDay: (value: string) => void;
  perSender: string;
  setPerSender: (value: string) => void;
}) {
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <TextField
        label={texts.perDay}
        name="messagesPerDay"
        hint={texts.used(used)}
        type="number"
        value={perDay}
        onChange={({ target }) => setPerDay(target.value)}
      />
      <TextField
        label={texts.perSender}
        name="messagesPerSender"
        type="number"
        value={perSender}
        onChange={({ target }) => setPerSender(target.value)}
      />
    </div>
  );
}
