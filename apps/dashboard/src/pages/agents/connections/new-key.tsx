import { web } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { keys } from '../../../texts/account.ts';
import { api as texts } from '../../../texts/connections.ts';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { FreshKey } from '../../identity/fresh-key.tsx';
import { callsOf } from './calls.ts';

/** A key for a program that talks to the agent; it is shown once, with a call that uses it. */
export default function NewKey({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const [name, setName] = useState('');
  const [fresh, setFresh] = useState<string>();
  const create = useSend(web.keys.create, { refresh: [web.keys.list], done: ({ key }) => setFresh(key) });
  if (fresh !== undefined)
    return (
      <FreshKey
        title={keys.yourKey}
        hint={keys.shownOnce}
        secret={fresh}
        example={{ label: keys.tryIt, text: callsOf('curl', location.origin, agentId, fresh) }}
        onClose={onClose}
      />
    );
  return (
    <Dialog open onClose={onClose} title={texts.newKey} hint={texts.newKeyHint}>
      <Form error={create.error} fields={['name']} onSubmit={() => create.mutate({ body: { name } })}>
        <TextField
          label={keys.name}
          name="name"
          placeholder={keys.namePlaceholder}
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <DialogEnd send={create} onClose={onClose} action={keys.create} />
      </Form>
    </Dialog>
  );
}
