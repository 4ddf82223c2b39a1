import { JOINING_MODES, web, type JoiningMode, type JoiningRules } from '@troupe/contract';
import { PLANS, type Plan } from '@troupe/domain';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { planName } from '../../../format.ts';
import { joining as texts } from '../../../texts/joining.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

/** Who may make an account on this installation, and what it begins with. */
export function Joining() {
  const read = useCall(web.joining.get, {});
  return (
    <Card title={texts.title} hint={texts.hint}>
      <Loaded from={read}>{(rules) => <Rules key={JSON.stringify(rules)} rules={rules} />}</Loaded>
    </Card>
  );
}

function Rules({ rules }: { rules: JoiningRules }) {
  const say = useSay();
  const [mode, setMode] = useState(rules.mode);
  const [plan, setPlan] = useState<Plan | ''>(rules.plan ?? '');
  const [days, setDays] = useState(rules.days === null ? '' : String(rules.days));
  const refresh = [web.joining.get, web.joining.getMode];
  const send = useSend(web.joining.change, { refresh, done: () => say(texts.saved) });
  const save = () =>
    send.mutate({ body: { mode, plan: plan || null, days: plan === '' || days === '' ? null : Number(days) } });
  return (
    <Form error={send.error} fields={['mode', 'plan', 'days']} onSubmit={save}>
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField
          label={texts.who}
          name="mode"
          value={mode}
          onChange={({ target }) => setMode(target.value as JoiningMode)}
          choices={JOINING_MODES.map((value) => ({ value, label: texts.modes[value] }))}
        />
        <SelectField
          label={texts.plan}
          name="plan"
          value={plan}
          onChange={({ target }) => setPlan(target.value as Plan | '')}
          choices={[{ value: '', label: texts.nothing }, ...PLANS.map((value) => ({ value, label: planName(value) }))]}
        />
        {plan !== '' && (
          <TextField
            label={texts.days}
            hint={texts.daysHint}
            name="days"
            type="number"
            min={1}
            max={365}
            value={days}
            onChange={({ target }) => setDays(target.value)}
          />
        )}
      </div>
      <Refused error={send.error} />
      <div>
        <Button kind="primary" type="submit" busy={send.isPending}>
          {texts.save}
        </Button>
      </div>
    </Form>
  );
}
