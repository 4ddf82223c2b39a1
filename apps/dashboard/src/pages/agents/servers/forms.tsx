import { web } from '@troupe/contract';
import type { UserServer } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { servers as words, userServers as texts } from '../../../texts/connections.ts';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { PickMany, SelectField, TextArea } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { NO_SERVER, SECRET_FIELDS, serverBody } from '../connections/mcp-server.ts';
import { ServerFields } from '../connections/server-fields.tsx';

type Approval = UserServer['approval'];
const APPROVALS: Approval[] = ['allow', 'ask', 'deny'];

interface Reach {
  forAll: boolean;
  agents: string[];
  approval: Approval;
}

const EVERYBODY: Reach = { forAll: true, agents: [], approval: 'allow' };

export function AddServer({ onClose }: { onClose: () => void }) {
  const unsaved = useUnsaved('server', { ...NO_SERVER, reach: EVERYBODY }, SECRET_FIELDS);
  const { reach, ...form } = unsaved.value;
  const leave = () => {
    unsaved.clear();
    onClose();
  };
  const say = useSay();
  const save = useSend(web.servers.save, {
    refresh: [web.servers.list],
    done: () => {
      say(words.attached);
      leave();
    },
  });
  const submit = () => save.mutate({ params: { name: form.name.trim() }, body: { ...serverBody(form), ...reach } });
  return (
    <Dialog open onClose={onClose} title={words.add} hint={words.attachHint}>
      <Form error={save.error} fields={['name', 'url']} onSubmit={submit}>
        <LeftOff of={unsaved} />
        <ServerFields form={form} onChange={unsaved.set} />
        <ReachFields reach={reach} onChange={(next) => unsaved.set({ reach: next })} />
        <DialogEnd send={save} onClose={leave} action={words.attach} />
      </Form>
    </Dialog>
  );
}

export function ChangeServer({ server, onClose }: { server: UserServer; onClose: () => void }) {
  const { name, forAll, approval } = server;
  const uses = server.agents.filter((agent) => agent.uses).map(({ agentId }) => agentId);
  const [reach, setReach] = useState<Reach>({ forAll, approval, agents: forAll ? [] : uses });
  const [tools, setTools] = useState((server.tools ?? []).join('\n'));
  const say = useSay();
  const change = useSend(web.servers.change, {
    refresh: [web.servers.list],
    done: () => {
      say(texts.changed);
      onClose();
    },
  });
  const submit = () => {
    const named = tools
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    change.mutate({ params: { name }, body: { ...reach, tools: named.length > 0 ? named : null } });
  };
  return (
    <Dialog open onClose={onClose} title={texts.changeTitle(name)}>
      <Form error={change.error} fields={[]} onSubmit={submit}>
        <ReachFields reach={reach} onChange={setReach} />
        <TextArea
          label={texts.tools}
          hint={texts.toolsHint}
          mono
          rows={4}
          value={tools}
          onChange={({ target }) => setTools(target.value)}
        />
        <DialogEnd send={change} onClose={onClose} action={texts.save} />
      </Form>
    </Dialog>
  );
}

/** Who has it, and what is asked about. */
function ReachFields({ reach, onChange }: { reach: Reach; onChange: (reach: Reach) => void }) {
  const agents = useCall(web.agents.list, {});
  return (
    <>
      <SelectField
        label={texts.who}
        value={reach.forAll ? 'all' : 'some'}
        onChange={({ target }) => onChange({ ...reach, forAll: target.value === 'all' })}
        choices={[
          { value: 'all', label: texts.all },
          { value: 'some', label: texts.some },
        ]}
      />
      {!reach.forAll && (
        <PickMany
          label={texts.chosen}
          choices={(agents.data?.agents ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={reach.agents}
          onChange={(chosen) => onChange({ ...reach, agents: chosen })}
        />
      )}
      <SelectField
        label={texts.asking}
        value={reach.approval}
        onChange={({ target }) => onChange({ ...reach, approval: target.value as Approval })}
        choices={APPROVALS.map((value) => ({ value, label: texts.approvals[value] }))}
      />
    </>
  );
}
