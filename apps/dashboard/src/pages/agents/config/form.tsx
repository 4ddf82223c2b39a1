import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { config as texts } from '../../../texts/operate.ts';
import { TEAM_TOOLS } from '@troupe/domain';
import { toolNames } from '../../../texts/teams.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { ModelField } from '../models.tsx';
import { lines, toList } from './config-text.ts';
import type { Config } from './config-text.ts';

const part = (config: Config, key: string) => (config[key] ?? {}) as Config;
/** The known fields of a configuration. Unknown ones are left as they are: JSON shows them. */
export function ConfigForm({ value, onChange }: { value: Config; onChange: (next: Config) => void }) {
  const set = (section: string, change: Config) =>
    onChange({ ...value, [section]: { ...part(value, section), ...change } });
  const channels = part(value, 'channels');
  const offered = useCall(web.models.list, {}).data;
  return (
    <div className="flex flex-col gap-6">
      <div className="grid gap-4 sm:grid-cols-2">
        <ModelField
          label={texts.model}
          offered={offered}
          value={String(part(value, 'model')['default'] ?? '')}
          onChange={(model) => set('model', { default: model })}
        />
        <NumberInput
          label={texts.heartbeat}
          value={part(value, 'cron')['heartbeatIntervalMinutes']}
          onChange={(number) => set('cron', { heartbeatIntervalMinutes: number })}
        />
        <ListInput
          label={texts.fallbacks}
          hint={texts.fallbacksHint}
          value={part(value, 'model')['fallbacks']}
          onChange={(fallbacks) => set('model', { fallbacks })}
        />
        <ListInput
          label={texts.domains}
          hint={texts.domainsHint}
          value={part(value, 'safety')['allowedDomains']}
          onChange={(allowedDomains) => set('safety', { allowedDomains })}
        />
      </div>
      <fieldset>
        <legend className="mb-2 font-medium">{texts.channels}</legend>
        <div className="grid gap-2 sm:grid-cols-2">
          {Object.entries(texts.channelNames)
            .filter(([key]) => key in channels)
            .map(([key, label]) => (
              <CheckField
                key={key}
                label={label}
                checked={part(channels, key)['enabled'] === true}
                onChange={({ target }) =>
                  set('channels', { [key]: { ...part(channels, key), enabled: target.checked } })
                }
              />
            ))}
        </div>
      </fieldset>
      <Approvals
        value={part(part(value, 'safety'), 'approvals')}
        onChange={(approvals) => set('safety', { approvals })}
      />
      <Bounds value={value} set={set} />
    </div>
  );
}

/** How much is kept, and used. */
function Bounds({ value, set }: { value: Config; set: (section: string, change: Config) => void }) {
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <NumberInput
        label={texts.maxEntries}
        value={part(value, 'memory')['maxEntries']}
        onChange={(maxEntries) => set('memory', { maxEntries })}
      />
      <NumberInput
        label={texts.ttlDays}
        value={part(value, 'memory')['ttlDays']}
        onChange={(ttlDays) => set('memory', { ttlDays })}
      />
      <NumberInput
        label={texts.maxTokens}
        value={part(value, 'safety')['maxTokensPerDay']}
        onChange={(maxTokensPerDay) => set('safety', { maxTokensPerDay })}
      />
    </div>
  );
}

/** Whether a tool may be used, or somebody is asked first. */
function Approvals({ value, onChange }: { value: Config; onChange: (next: Config) => void }) {
  const choices = Object.entries(texts.approvalRules).map(([rule, label]) => ({ value: rule, label }));
  return (
    <fieldset>
      <legend className="font-medium">{texts.approvals}</legend>
      <p className="mb-2 text-[0.85rem] text-ink-faint">{texts.approvalsHint}</p>
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        {TEAM_TOOLS.map((tool) => (
          <SelectField
            key={tool}
            label={toolNames[tool] ?? tool}
            value={String(value[tool] ?? 'allow')}
            onChange={({ target }) => onChange({ ...value, [tool]: target.value })}
            choices={choices}
          />
        ))}
      </div>
    </fieldset>
  );
}

function NumberInput({ label, value, onChange }: { label: string; value: unknown; onChange: (value: number) => void }) {
  return (
    <TextField
      label={label}
      type="number"
      value={typeof value === 'number' ? value : ''}
      onChange={({ target }) => onChange(target.valueAsNumber)}
    />
  );
}

function ListInput({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  value: unknown;
  onChange: (value: string[]) => void;
}) {
  return (
    <TextArea
      label={label}
      hint={hint}
      mono
      rows={3}
      defaultValue={lines(value)}
      onChange={({ target }) => onChange(toList(target.value))}
    />
  );
}
