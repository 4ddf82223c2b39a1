import { mayBeNamed, needsKey, needsModels, needsNoAddress, PROVIDER_KINDS, web } from '@troupe/contract';
import type { AiProvider, ProviderKind } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { providers as texts } from '../../../texts/providers.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Confirm, Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Outcome } from '../outcome.tsx';

const REFRESH = [web.providers.list, web.models.list];

/** Providers of AI models: added, tried, switched and removed without a restart. */
export function AdminProviders() {
  const read = useCall(web.providers.list, {});
  const [isAdding, setAdding] = useState(false);
  const say = useSay();
  const remove = useAsk(web.providers.remove, ({ id }: AiProvider) => ({ params: { id: id! } }), {
    refresh: REFRESH,
    done: () => say(texts.removed),
  });
  const add = (
    <Button kind="primary" small icon="plus" onClick={() => setAdding(true)}>
      {texts.add}
    </Button>
  );
  return (
    <div className="flex flex-col gap-5">
      <NextStep providers={read.data?.providers ?? []} />
      <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden" actions={add}>
        <Table
          label={texts.title}
          rows={read.data?.providers}
          rowKey={({ name }) => name}
          error={read.error}
          retry={() => void read.refetch()}
          empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
          columns={[
            { key: 'name', header: texts.name, cell: ({ name }) => <span className="font-medium">{name}</span> },
            {
              key: 'address',
              header: texts.address,
              minor: true,
              free: true,
              cell: ({ baseUrl }) => <span className="text-ink-soft">{baseUrl ?? '–'}</span>,
            },
            { key: 'state', header: texts.state, cell: (provider) => <State provider={provider} /> },
            {
              key: 'do',
              header: '',
              end: true,
              cell: (provider) =>
                provider.id !== null && <Doing id={provider.id} provider={provider} onRemove={remove.ask} />,
            },
          ]}
        />
        {isAdding && <AddDialog onClose={() => setAdding(false)} />}
        <Confirm
          {...remove.confirm}
          title={texts.removeTitle(remove.subject?.name ?? '')}
          losses={<p>{texts.removeLoss}</p>}
          action={texts.remove}
        />
      </Card>
    </div>
  );
}

/** Where somebody goes on who has set the first one up: told by looking, so it goes away by itself. */
function NextStep({ providers }: { providers: readonly AiProvider[] }) {
  const isOn = providers.some(({ enabled }) => enabled);
  const agents = useCall(web.agents.list, { query: { limit: '1' } }, { enabled: isOn }).data?.agents;
  if (!isOn || agents?.length !== 0) return null;
  return (
    <Notice tone="ok" title={texts.next}>
      <p className="mb-2">{texts.nextHint}</p>
      <LinkButton small kind="primary" icon="plus" to="/dashboard/agents/new">
        {texts.firstAgent}
      </LinkButton>
    </Notice>
  );
}

function State({ provider: { id, enabled } }: { provider: AiProvider }) {
  if (id === null) return <Badge>{texts.fromEnvironment}</Badge>;
  return <Badge tone={enabled ? 'ok' : 'neutral'}>{enabled ? texts.on : texts.off}</Badge>;
}

function Doing({
  id,
  provider,
  onRemove,
}: {
  id: string;
  provider: AiProvider;
  onRemove: (provider: AiProvider) => void;
}) {
  const { name, enabled } = provider;
  const change = useSend(web.providers.change, { refresh: REFRESH });
  return (
    <span className="flex flex-wrap items-center justify-end gap-2">
      {change.error && <span className="text-danger">{change.error.message}</span>}
      <TestButton id={id} name={name} />
      <Button small onClick={() => change.mutate({ params: { id }, body: { enabled: !enabled } })}>
        {enabled ? texts.switchOff : texts.switchOn}
      </Button>
      <Button small kind="danger" aria-label={texts.removeNamed(name)} onClick={() => onRemove(provider)}>
        {texts.remove}
      </Button>
    </span>
  );
}

function TestButton({ id, name }: { id: string; name: string }) {
  const test = useSend(web.providers.test);
  return (
    <>
      <Button
        small
        busy={test.isPending}
        aria-label={texts.testNamed(name)}
        onClick={() => test.mutate({ body: { id } })}
      >
        {texts.test}
      </Button>
      <Dialog open={test.data !== undefined || test.error !== null} onClose={() => test.reset()} title={name}>
        <Outcome test={test} />
      </Dialog>
    </>
  );
}

interface Given {
  kind: ProviderKind;
  name: string;
  baseUrl: string;
  apiKey: string;
  /** One a line. */
  models: string;
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** As names of providers are written: they are the first part of what their models are called. */
const nameFrom = (typed: string): string => typed.toLowerCase().replaceAll(/[^a-z\d]+/g, '-');

/** What is left empty is not sent. */
const bodyOf = ({ kind, name, baseUrl, apiKey, models }: Given) => ({
  kind,
  ...(mayBeNamed(kind) && (name !== '' || kind === 'compatible') && { name }),
  ...(kind in texts.modelsHints && models.trim() !== '' && { models: linesOf(models) }),
  ...(baseUrl !== '' && { baseUrl }),
  ...(apiKey !== '' && { apiKey }),
});

function AddDialog({ onClose }: { onClose: () => void }) {
  const say = useSay();
  const [given, setGiven] = useState<Given>({ kind: 'openrouter', name: '', baseUrl: '', apiKey: '', models: '' });
  const test = useSend(web.providers.test);
  const add = useSend(web.providers.add, {
    refresh: REFRESH,
    done: ({ provider }) => {
      say(texts.added(provider.name));
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} title={texts.add}>
      <Form
        error={add.error}
        fields={['name', 'baseUrl', 'apiKey', 'models']}
        onSubmit={() => add.mutate({ body: bodyOf(given) })}
      >
        <Fields
          given={given}
          onChange={(change) => {
            setGiven({ ...given, ...change });
            test.reset();
            add.reset();
          }}
        />
        <div className="flex flex-col gap-2" aria-live="polite">
          <div>
            <Button busy={test.isPending} onClick={() => test.mutate({ body: bodyOf(given) })}>
              {texts.test}
            </Button>
          </div>
          <Outcome test={test} />
        </div>
        <DialogEnd send={add} onClose={onClose} action={texts.save} />
      </Form>
    </Dialog>
  );
}

function Fields({ given, onChange }: { given: Given; onChange: (change: Partial<Given>) => void }) {
  const { kind, name, baseUrl, apiKey } = given;
  const isNeeded = !needsNoAddress(kind);
  const key = (
    <TextField
      label={texts.key}
      name="apiKey"
      hint={texts.keys[kind] ?? texts.keyHint}
      type="password"
      autoComplete="off"
      required={needsKey(kind)}
      value={apiKey}
      onChange={({ target }) => onChange({ apiKey: target.value })}
    />
  );
  return (
    <>
      <SelectField
        label={texts.kind}
        value={kind}
        onChange={({ target }) => onChange({ kind: target.value as ProviderKind })}
        choices={PROVIDER_KINDS.map((value) => ({ value, label: texts.kinds[value] ?? value }))}
      />
      {mayBeNamed(kind) && (
        <TextField
          label={texts.name}
          name="name"
          hint={kind === 'compatible' ? texts.nameHint : texts.cloudNameHint}
          required={kind === 'compatible'}
          value={name}
          onChange={({ target }) => onChange({ name: nameFrom(target.value) })}
        />
      )}
      {!isNeeded && key}
      <TextField
        label={texts.address}
        name="baseUrl"
        hint={texts.addresses[kind] ?? (isNeeded ? texts.addressHint : texts.optional)}
        required={isNeeded}
        placeholder="https://"
        inputMode="url"
        value={baseUrl}
        onChange={({ target }) => onChange({ baseUrl: target.value })}
      />
      {isNeeded && key}
      {kind in texts.modelsHints && (
        <TextArea
          label={texts.models}
          name="models"
          hint={texts.modelsHints[kind]}
          rows={3}
          required={needsModels(kind)}
          value={given.models}
          onChange={({ target }) => onChange({ models: target.value })}
        />
      )}
    </>
  );
}
