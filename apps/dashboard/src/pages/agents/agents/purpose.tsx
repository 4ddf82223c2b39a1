import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { stale, useCall, useSend } from '../../../api.ts';
import { create as fields, purpose as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { Gated } from '../evaluations/gated.tsx';
import { ToolPicker } from './tool-picker.tsx';

type AgentPurpose = TypesOf<typeof web.agents.getPurpose>['reply'];

/** What the agent is for and what it may use: as it was made, and as it is from now on. */
export function Purpose({ agentId }: { agentId: string }) {
  const read = useCall(web.agents.getPurpose, { params: { id: agentId } });
  return (
    <Card title={texts.title} hint={texts.hint}>
      <Loaded from={read}>{(was) => <PurposeForm key={JSON.stringify(was)} agentId={agentId} was={was} />}</Loaded>
    </Card>
  );
}

function PurposeForm({ agentId, was }: { agentId: string; was: AgentPurpose }) {
  const unsaved = useUnsaved(`purpose:${agentId}`, { instruction: was.instruction, tools: was.tools });
  const { value: body, set } = unsaved;
  const { instruction, tools } = body;
  const say = useSay();
  const queries = useQueryClient();
  const done = () => {
    unsaved.clear();
    say(texts.saved);
  };
  const save = useSend(web.agents.putPurpose, { refresh: [web.agents.getPurpose], done });
  const taken = () => {
    done();
    void stale(queries, web.agents.getPurpose);
  };
  const same = instruction === was.instruction && tools.toSorted().join() === was.tools.toSorted().join();
  return (
    <Form
      className="flex flex-col gap-5"
      error={save.error}
      fields={['instruction']}
      onSubmit={() => save.mutate({ params: { id: agentId }, body })}
    >
      <LeftOff of={unsaved} />
      <TextArea
        label={fields.instruction}
        name="instruction"
        hint={fields.instructionHint}
        placeholder={fields.instructionPlaceholder}
        rows={6}
        value={instruction}
        onChange={({ target }) => set({ instruction: target.value })}
      />
      <ToolPicker value={tools} onChange={(chosen) => set({ tools: chosen })} />
      <Refused error={save.error} />
      <Gated
        agentId={agentId}
        error={save.error}
        change={{ purpose: body }}
        onForce={() => save.mutate({ params: { id: agentId }, query: { force: 'true' }, body })}
        onTaken={taken}
      />
      <div>
        <Button kind="primary" type="submit" busy={save.isPending} disabled={same}>
          {texts.save}
        </Button>
      </div>
    </Form>
  );
}
