import { web } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { keys } from '../../../texts/account.ts';
import { api as texts } from '../../../texts/connections.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { FreshKey } from '../../identity/fresh-key.tsx';
import { Kind } from './parts.tsx';
import { callsOf, WAYS } from './calls.ts';
import type { Way } from './calls.ts';

/** How a program talks to the agent, with all that is known filled in, and the key that it needs. */
export function Api({ agentId }: { agentId: string }) {
  const [way, setWay] = useState<Way>('curl');
  const [fresh, setFresh] = useState<string>();
  return (
    <Kind
      title={texts.title}
      hint={texts.hint}
      add={{ label: texts.newKey, form: (close) => <NewKey onClose={close} onMade={setFresh} /> }}
    >
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Segments
            label={texts.by}
            value={way}
            onChange={(next) => setWay(next as Way)}
            choices={WAYS.map((value) => ({ value, label: texts.ways[value] }))}
          />
          <LinkButton small kind="quiet" to="/dashboard/settings" search={{ tab: 'keys' } as never}>
            {texts.allKeys}
          </LinkButton>
        </div>
        <Code label={texts.ways[way]} text={callsOf(way, location.origin, agentId)} />
      </div>
      <FreshKey
        title={keys.yourKey}
        hint={keys.shownOnce}
        secret={fresh}
        example={{ label: keys.tryIt, text: callsOf('curl', location.origin, agentId, fresh) }}
        onClose={() => setFresh(undefined)}
      />
    </Kind>
  );
}

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const [name, setName] = useState('');
  const done = ({ key }: { key: string }) => {
    onClose();
    onMade(key);
  };
  const create = useSend(web.keys.create, { refresh: [web.keys.list], done });
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
