import { OWN_KEY_PROVIDERS, web } from '@troupe/contract';
import type { ModelKey, TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { modelKeys as texts } from '../../texts/keys.ts';
import { providers as names } from '../../texts/providers.ts';
import { useAsk } from '../../ui/ask.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm, Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { PickMany, SelectField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { Outcome } from './outcome.tsx';

type Provider = (typeof OWN_KEY_PROVIDERS)[number];

const REFRESH = [web.modelKeys.list, web.agents.list];
const idsOf = ({ agents }: ModelKey) => agents.map(({ id }) => id);
const nameOf = (provider: string) => (names.kinds[provider] ?? provider).split(':')[0]!;

/** A person's own keys at providers of models, for all of his agents. */
export function ModelKeys() {
  const read = useCall(web.modelKeys.list, {});
  const [giving, setGiving] = useState<{ key?: ModelKey }>();
  const say = useSay();
  const take = useAsk(web.modelKeys.take, (key: ModelKey) => ({ body: { agentIds: idsOf(key) } }), {
    refresh: REFRESH,
    done: () => say(texts.taken),
  });
  const add = (
    <Button small kind="primary" icon="plus" onClick={() => setGiving({})}>
      {texts.add}
    </Button>
  );
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden" actions={add}>
      <Table
        label={texts.title}
        rows={read.data?.keys}
        rowKey={({ agents }) => agents[0]!.id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
        columns={[
          { key: 'provider', header: texts.provider, cell: ({ provider }) => nameOf(provider) },
          { key: 'ending', header: texts.key, cell: ({ ending }) => <code>{texts.ending(ending)}</code> },
          {
            key: 'agents',
            header: texts.agents,
            free: true,
            cell: ({ agents }) => <bdi>{texts.for(agents.map(({ name }) => name))}</bdi>,
          },
          {
            key: 'do',
            header: '',
            end: true,
            cell: (key) => <Doing of={key} onReplace={() => setGiving({ key })} onTake={() => take.ask(key)} />,
          },
        ]}
      />
      {giving && <GiveDialog of={giving.key} onClose={() => setGiving(undefined)} />}
      <Confirm
        {...take.confirm}
        title={texts.takeTitle(nameOf(take.subject?.provider ?? ''))}
        losses={texts.takeLoss(take.subject?.agents.length ?? 0)}
        action={texts.take}
      />
    </Card>
  );
}

function Doing({ of, onReplace, onTake }: { of: ModelKey; onReplace: () => void; onTake: () => void }) {
  const test = useSend(web.modelKeys.test);
  const called = `${nameOf(of.provider)} ${texts.ending(of.ending)}`;
  return (
    <span className="flex flex-wrap items-center justify-end gap-2">
      <Button
        small
        busy={test.isPending}
        aria-label={texts.testNamed(called)}
        onClick={() => test.mutate({ body: { agentId: of.agents[0]!.id } })}
      >
        {names.test}
      </Button>
      <Button small aria-label={texts.replaceNamed(called)} onClick={onReplace}>
        {texts.replace}
      </Button>
      <Button small kind="danger" aria-label={texts.takeNamed(called)} onClick={onTake}>
        {texts.take}
      </Button>
      <Dialog open={test.data !== undefined || test.error !== null} onClose={() => test.reset()} title={called}>
        <Outcome test={test} />
      </Dialog>
    </span>
  );
}

/** What is chosen in the dialog, and what is sent of it. Whoever is not chosen any more loses the key. */
function useGiving(of: ModelKey | undefined, onClose: () => void) {
  const say = useSay();
  const [provider, setProvider] = useState<Provider>((of?.provider as Provider | undefined) ?? OWN_KEY_PROVIDERS[0]);
  const [apiKey, setKey] = useState('');
  const [chosen, setChosen] = useState<string[]>();
  const agents = useCall(web.agents.list, {}).data?.agents ?? [];
  const agentIds = chosen ?? (of ? idsOf(of) : agents.map(({ id }) => id));
  const dropped = of ? idsOf(of).filter((id) => !agentIds.includes(id)) : [];
  const end = () => {
    say(texts.given(agentIds.length));
    onClose();
  };
  const take = useSend(web.modelKeys.take, { refresh: REFRESH, done: end });
  const options = {
    refresh: REFRESH,
    done: () => (dropped.length > 0 ? take.mutate({ body: { agentIds: dropped } }) : end()),
  };
  const give = useSend(web.modelKeys.give, options);
  const share = useSend(web.modelKeys.share, options);
  const isSame = of !== undefined && apiKey === '';
  const sends = [give, share, take];
  return {
    given: { provider, apiKey, agentIds },
    agents,
    setProvider,
    setKey,
    setChosen,
    send: {
      error: sends.find(({ error }) => error)?.error ?? null,
      isPending: sends.some(({ isPending }) => isPending),
    },
    submit: () =>
      isSame
        ? share.mutate({ body: { agentId: of.agents[0]!.id, agentIds } })
        : give.mutate({ body: { provider, apiKey, agentIds } }),
  };
}

/** A new key, or another in the place of one; left empty, the one that is there goes to the agents that are chosen. */
function GiveDialog({ of, onClose }: { of?: ModelKey | undefined; onClose: () => void }) {
  const { given, agents, setProvider, setKey, setChosen, send, submit } = useGiving(of, onClose);
  const { provider, apiKey } = given;
  return (
    <Dialog open onClose={onClose} title={of ? texts.replaceTitle(nameOf(of.provider)) : texts.add}>
      <Form error={send.error} fields={['provider', 'apiKey']} onSubmit={submit}>
        {!of && (
          <SelectField
            label={texts.provider}
            value={provider}
            onChange={({ target }) => setProvider(target.value as Provider)}
            choices={OWN_KEY_PROVIDERS.map((value) => ({ value, label: names.kinds[value] ?? value }))}
          />
        )}
        <TextField
          label={texts.key}
          name="apiKey"
          type="password"
          autoComplete="off"
          required={!of}
          hint={of ? texts.sameHint : names.keyHint}
          value={apiKey}
          onChange={({ target }) => setKey(target.value)}
        />
        <Try
          key={`${provider} ${apiKey}`}
          body={apiKey === '' ? of && { agentId: of.agents[0]!.id } : { provider, apiKey }}
        />
        <div className="max-h-72 overflow-auto">
          <PickMany
            label={texts.agents}
            choices={agents.map(({ id, name }) => ({ value: id, label: name }))}
            value={given.agentIds}
            onChange={setChosen}
          />
        </div>
        <DialogEnd send={send} onClose={onClose} action={of ? texts.save : texts.give} />
      </Form>
    </Dialog>
  );
}

function Try({ body }: { body: TypesOf<typeof web.modelKeys.test>['body'] | undefined }) {
  const test = useSend(web.modelKeys.test);
  return (
    <div className="flex flex-col gap-2" aria-live="polite">
      <div>
        <Button busy={test.isPending} disabled={!body} onClick={() => body && test.mutate({ body })}>
          {names.test}
        </Button>
      </div>
      <Outcome test={test} />
    </div>
  );
}
