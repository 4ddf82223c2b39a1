import { MOST_COMPARED, web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { newId } from '../../../ids.ts';
import { keep, kept } from '../../../keeping.ts';
import { compare as texts } from '../../../texts/compare.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { SelectField, TextArea } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { ModelField } from '../models.tsx';
import { Answers } from './answers.tsx';
import { askedAs, COMPARISON, readComparison, sidesOf } from './sides.ts';
import type { Comparison, Side } from './sides.ts';

export default function Compare() {
  const agents = useCall(web.agents.list, {});
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Loaded from={agents}>
        {({ agents: list }) =>
          list.length === 0 ? (
            <Empty
              title={texts.noAgents}
              action={<LinkButton to="/dashboard/agents/new">{texts.newAgent}</LinkButton>}
            />
          ) : (
            <Comparing agents={list} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Comparing({ agents }: { agents: WebAgent[] }) {
  const [comparison, setComparison] = useState<Comparison>(() => readComparison(kept(COMPARISON)));
  const set = (change: Partial<Comparison>) => {
    const next = { ...comparison, ...change };
    keep(COMPARISON, next);
    setComparison(next);
  };
  const models = useCall(web.models.list, {}).data?.models ?? [];
  const sides = sidesOf(comparison.sides, agents, models);
  const { message, shown } = comparison;
  const start = useSend(web.compare.start, { done: (reply) => set({ shown: reply, asked: undefined }) });
  const ask = () => {
    const asked = askedAs(comparison.asked, message, sides, newId);
    set({ asked });
    start.mutate({ body: { id: asked.id, message, sides } });
  };
  if (shown)
    return (
      <Answers
        key={shown.id}
        message={message}
        sides={shown.sides}
        agents={agents}
        onAgain={() => set({ shown: undefined })}
      />
    );
  return (
    <Card>
      <Form error={start.error} fields={['message']} onSubmit={ask}>
        <TextArea
          label={texts.message}
          name="message"
          placeholder={texts.placeholder}
          required
          dir="auto"
          value={message}
          onChange={({ target }) => set({ message: target.value })}
        />
        <Sides sides={sides} agents={agents} onChange={(next) => set({ sides: next })} />
        <Refused error={start.error} />
        <div>
          <Button kind="primary" type="submit" busy={start.isPending}>
            {texts.ask}
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function Sides({ sides, agents, onChange }: { sides: Side[]; agents: WebAgent[]; onChange: (sides: Side[]) => void }) {
  const change = (at: number, part: Partial<Side>) =>
    onChange(sides.map((side, index) => (index === at ? { ...side, ...part } : side)));
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1.5 text-[0.9rem] font-medium">{texts.sides}</legend>
      <p className="text-[0.87rem] text-ink-soft">{texts.hint}</p>
      <ol className="grid grid-cols-1 gap-3 md:grid-cols-2 xl:grid-cols-3">
        {sides.map((side, index) => (
          // Sides have no names of their own, and the same may be there twice.
          // oxlint-disable-next-line react/no-array-index-key -- a side is its place
          <li key={index} className="rounded-xl border border-line p-4">
            <OneSide
              side={side}
              number={index + 1}
              agents={agents}
              onChange={(part) => change(index, part)}
              onRemove={sides.length > 2 ? () => onChange(sides.filter((_, at) => at !== index)) : undefined}
            />
          </li>
        ))}
      </ol>
      {sides.length < MOST_COMPARED && (
        <div>
          <Button
            small
            icon="plus"
            onClick={() => onChange([...sides, { agentId: sides.at(-1)?.agentId ?? agents[0]!.id, model: null }])}
          >
            {texts.add}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function OneSide({
  side,
  number,
  agents,
  onChange,
  onRemove,
}: {
  side: Side;
  number: number;
  agents: WebAgent[];
  onChange: (part: Partial<Side>) => void;
  onRemove: (() => void) | undefined;
}) {
  const offered = useCall(web.models.list, {}).data;
  const agent = agents.find(({ id }) => id === side.agentId);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-2">
        <span className="eyebrow">{texts.side(number)}</span>
        {onRemove && <Button small kind="quiet" icon="close" aria-label={texts.remove(number)} onClick={onRemove} />}
      </div>
      <SelectField
        label={texts.agent}
        value={side.agentId}
        onChange={({ target }) => onChange({ agentId: target.value })}
        choices={agents.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <ModelField
        offered={offered && { ...offered, sandboxOnly: false }}
        value={side.model ?? agent?.answers}
        onChange={(model) => onChange({ model })}
      />
    </div>
  );
}
