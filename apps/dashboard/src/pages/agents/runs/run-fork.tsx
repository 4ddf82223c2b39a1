import { web } from '@troupe/contract';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { modelName } from '../../../models.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { models } from '../../../texts/talk.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { PickOne, SelectField, TextArea } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { newId } from '../../../ids.ts';
import type { Bar } from './waterfall.ts';

/** From a prompt: in its place. From any other step: after it. */
function beginning({ kind, seq, step }: Bar) {
  const isPrompt = kind === 'prompt';
  const attachments = isPrompt ? (step.attachments ?? []).map(({ path }) => path) : [];
  return {
    at: isPrompt ? seq - 1 : seq,
    text: isPrompt ? (step.content ?? '') : '',
    more: attachments.length > 0 ? { attachments } : {},
  };
}

/** Goes on from a step with other words or another model, beside what happened. */
export function ForkDialog({
  agentId,
  sessionId,
  bar,
  prompt,
  onClose,
}: {
  agentId: string;
  sessionId: string;
  bar: Bar;
  /** What the run began with. */
  prompt: Bar | undefined;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [isAgain, setAgain] = useState(false);
  const { at, text, more } = beginning((isAgain && prompt) || bar);
  const [said, setMessage] = useState<string>();
  const message = said ?? text;
  const [model, setModel] = useState('');
  const [instruction, setInstruction] = useState<string>();
  // Sent again after an error it is the same fork.
  const id = useRef(newId());
  const fork = useSend(web.conversations.branch, {
    refresh: [web.conversations.list, web.conversations.listBranches],
    done: (made) =>
      void navigate({
        to: '/dashboard/agents/$id',
        params: { id: agentId } as never,
        search: { tab: 'chat', c: made.sessionId } as never,
      }),
  });
  const submit = () => {
    const other = { ...(model !== '' && { model }), ...(instruction !== undefined && { instruction }) };
    const body = { at, id: id.current, message: message.trim(), ...more, ...other };
    fork.mutate({ params: { id: agentId, sessionId }, body });
  };
  return (
    <Dialog open onClose={onClose} title={texts.forkTitle} hint={texts.forkHint}>
      <Form error={fork.error} fields={['message', 'instruction']} onSubmit={submit}>
        {prompt && bar.kind !== 'prompt' && <Where isAgain={isAgain} onChange={setAgain} />}
        <TextArea
          label={texts.message}
          name="message"
          rows={4}
          required
          dir="auto"
          value={message}
          onChange={({ target }) => setMessage(target.value)}
        />
        <OtherModel agentId={agentId} value={model} onChange={setModel} />
        <OtherInstruction agentId={agentId} value={instruction} onChange={setInstruction} />
        <DialogEnd send={fork} onClose={onClose} action={texts.start} />
      </Form>
    </Dialog>
  );
}

/** After the step that is looked at, or before everything that came of the question. */
const Where = ({ isAgain, onChange }: { isAgain: boolean; onChange: (isAgain: boolean) => void }) => (
  <PickOne
    label={texts.forkWhere}
    value={isAgain ? 'again' : 'after'}
    onChange={(value) => onChange(value === 'again')}
    choices={[
      { value: 'after', label: texts.forkAfter },
      { value: 'again', label: texts.forkAgain },
    ]}
  />
);

interface Other<T> {
  agentId: string;
  value: T;
  onChange: (value: string) => void;
}

function OtherModel({ agentId, value, onChange }: Other<string>) {
  const offered = useCall(web.models.list, {}).data;
  const agent = useCall(web.agents.get, { params: { id: agentId } }).data?.agent;
  return (
    <SelectField
      label={texts.model}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      choices={[
        { value: '', label: models.own(modelName(agent?.answers)) },
        ...(offered?.models ?? []).map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  );
}

/** Undefined: its own. It begins with that one, to be changed. */
function OtherInstruction({ agentId, value, onChange }: Other<string | undefined>) {
  const own = useCall(web.agents.getPurpose, { params: { id: agentId } }).data?.instruction;
  if (value === undefined)
    return (
      <div>
        <Button small kind="quiet" disabled={own === undefined} onClick={() => onChange(own ?? '')}>
          {texts.otherInstruction}
        </Button>
      </div>
    );
  return (
    <TextArea
      label={texts.instruction}
      hint={texts.instructionHint}
      name="instruction"
      rows={5}
      dir="auto"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
