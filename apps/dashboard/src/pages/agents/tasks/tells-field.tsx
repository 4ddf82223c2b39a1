import { CHANNEL_KINDS, web } from '@troupe/contract';
import type { ScheduledTask } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useCall } from '../../../api.ts';
import { channels } from '../../../texts/channels.ts';
import { tells as texts } from '../../../texts/operate.ts';
import { SelectField } from '../../../ui/field.tsx';

type Tells = ScheduledTask['tells'];

/** On which channel of the agent the words of a task are told; with what is missing for it, and where to set it right. */
export function TellsField({
  agentId,
  value,
  onChange,
}: {
  agentId: string;
  value: Tells;
  onChange: (tells: Tells) => void;
}) {
  const read = useCall(web.channels.list, { params: { id: agentId } }, { enabled: agentId !== '' });
  const isMissing =
    value !== null && read.data && !read.data.channels.some(({ kind, isSet }) => isSet && kind === value);
  return (
    <div className="flex flex-col gap-1.5">
      <SelectField
        label={texts.label}
        hint={value === null ? texts.nowhereHint : texts.hint(channels.names[value])}
        value={value ?? ''}
        onChange={({ target }) => onChange(CHANNEL_KINDS.find((kind) => kind === target.value) ?? null)}
        choices={[
          { value: '', label: texts.nowhere },
          ...CHANNEL_KINDS.map((kind) => ({ value: kind, label: channels.names[kind] })),
        ]}
      />
      {isMissing && (
        <p className="text-[0.88rem] text-spot" role="status">
          {texts.missing(channels.names[value])}{' '}
          <Link
            to="/dashboard/agents/$id"
            params={{ id: agentId } as never}
            search={{ tab: 'connections' } as never}
            className="link"
          >
            {texts.connect}
          </Link>
        </p>
      )}
    </div>
  );
}
