import { web } from '@troupe/contract';
import type { ScheduledTask } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { states } from '../../../texts/common.ts';
import { tasks as texts } from '../../../texts/operate.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';

/** Runs a task once, with an input if there is one. */
export function RunNow({ task, onClose }: { task: ScheduledTask; onClose: () => void }) {
  const [input, setInput] = useState('');
  const say = useSay();
  const start = useSend(web.triggers.start, {
    refresh: [web.tasks.listRuns],
    done: () => {
      say(texts.started);
      onClose();
    },
  });
  const run = () => start.mutate({ params: { id: task.id }, body: input.trim() === '' ? {} : { input } });
  return (
    <Dialog open onClose={onClose} title={`${texts.runNow}: ${task.name}`} hint={texts.runNowHint}>
      <Form error={start.error} fields={['input']} onSubmit={run}>
        <TextArea
          label={texts.input}
          hint={texts.inputHint}
          name="input"
          value={input}
          onChange={({ target }) => setInput(target.value)}
        />
        <Refused error={start.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{states.cancel}</Button>
          <Button kind="primary" type="submit" busy={start.isPending}>
            {texts.runNow}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
