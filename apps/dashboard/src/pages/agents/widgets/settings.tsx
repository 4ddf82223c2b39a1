import { GREETING_LENGTH, web, WIDGET_TITLE_LENGTH } from '@troupe/contract';
import type { Widget } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { widgets as texts } from '../../../texts/widgets.ts';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { Preview } from './preview.tsx';
import { bodyOf, formOf, type WidgetForm } from './widget-form.ts';

interface Props {
  agentId: string;
  /** Left out: a new one. */
  widget?: Widget;
  onClose: () => void;
}

const FIELDS = ['title', 'greeting', 'colour', 'origins', 'messagesPerHour', 'dailyCapUsd', 'retentionDays'] as const;

/** All that can be said of a widget, with what it looks like by it. */
export function WidgetSettings({ agentId, widget, onClose }: Props) {
  const unsaved = useUnsaved(`widget:${widget?.id ?? agentId}`, formOf(widget));
  const { value: form, set: change } = unsaved;
  const say = useSay();
  const leave = () => {
    unsaved.clear();
    onClose();
  };
  const done = (text: string) => () => {
    say(text);
    leave();
  };
  const create = useSend(web.widgets.create, { refresh: [web.widgets.list], done: done(texts.made) });
  const update = useSend(web.widgets.update, { refresh: [web.widgets.list], done: done(texts.saved) });
  const send = widget ? update : create;
  const submit = () => {
    if (widget) update.mutate({ params: { id: agentId, widgetId: widget.id }, body: bodyOf(form) });
    else create.mutate({ params: { id: agentId }, body: bodyOf(form) });
  };
  return (
    <Dialog open onClose={onClose} title={widget ? texts.changeTitle : texts.make} wide>
      <Form error={send.error} fields={FIELDS} onSubmit={submit} className="flex flex-col gap-5">
        <LeftOff of={unsaved} />
        <Look form={form} change={change} />
        <Where form={form} change={change} />
        <Bounds form={form} change={change} />
        <DialogEnd send={send} onClose={leave} {...(!widget && { action: texts.make })} />
      </Form>
    </Dialog>
  );
}

interface Part {
  form: WidgetForm;
  change: (some: Partial<WidgetForm>) => void;
}

function Look({ form, change }: Part) {
  return (
    <fieldset className="grid gap-4 sm:grid-cols-2">
      <legend className="mb-2 font-medium">{texts.look}</legend>
      <div className="flex flex-col gap-4">
        <TextField
          label={texts.titleLabel}
          name="title"
          required
          maxLength={WIDGET_TITLE_LENGTH}
          value={form.title}
          onChange={({ target }) => change({ title: target.value })}
        />
        <TextArea
          label={texts.greeting}
          name="greeting"
          required
          rows={2}
          maxLength={GREETING_LENGTH}
          value={form.greeting}
          onChange={({ target }) => change({ greeting: target.value })}
        />
        <TextField
          label={texts.colour}
          name="colour"
          type="color"
          value={form.colour}
          onChange={({ target }) => change({ colour: target.value })}
        />
        <SelectField
          label={texts.scheme}
          value={form.scheme}
          choices={Object.entries(texts.schemes).map(([value, label]) => ({ value, label }))}
          onChange={({ target }) => change({ scheme: target.value as WidgetForm['scheme'] })}
        />
      </div>
      <Preview {...form} />
    </fieldset>
  );
}

function Where({ form, change }: Part) {
  return (
    <fieldset className="flex flex-col gap-4">
      <legend className="mb-2 font-medium">{texts.where}</legend>
      <TextArea
        label={texts.origins}
        hint={texts.originsHint}
        name="origins"
        mono
        rows={2}
        value={form.origins}
        onChange={({ target }) => change({ origins: target.value })}
      />
      <CheckField
        label={texts.hosted}
        checked={form.hosted}
        onChange={({ target }) => change({ hosted: target.checked })}
      />
    </fieldset>
  );
}

function Bounds({ form, change }: Part) {
  const numbers = [
    ['messagesPerHour', texts.perHour, undefined],
    ['dailyCapUsd', texts.cap, texts.capHint],
    ['retentionDays', texts.retention, texts.retentionHint],
  ] as const;
  return (
    <fieldset className="flex flex-col gap-4">
      <legend className="mb-2 font-medium">{texts.bounds}</legend>
      <SelectField
        label={texts.abilities}
        hint={texts.abilitiesHint}
        value={form.abilities}
        choices={Object.entries(texts.abilityNames).map(([value, label]) => ({ value, label }))}
        onChange={({ target }) => change({ abilities: target.value as WidgetForm['abilities'] })}
      />
      <CheckField
        label={texts.handsOver}
        hint={texts.handsOverHint}
        checked={form.handsOver}
        onChange={({ target }) => change({ handsOver: target.checked })}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        {numbers.map(([name, label, hint]) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            name={name}
            required
            inputMode="decimal"
            value={form[name]}
            onChange={({ target }) => change({ [name]: target.value })}
          />
        ))}
      </div>
    </fieldset>
  );
}
