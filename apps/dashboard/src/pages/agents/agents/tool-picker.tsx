import { web } from '@troupe/contract';
import { TEAM_TOOLS } from '@troupe/domain';
import { useCall } from '../../../api.ts';
import { create as texts } from '../../../texts/agents.ts';
import { toolHints, toolNames } from '../../../texts/teams.ts';
import { PickMany } from '../../../ui/field.tsx';

/** The tools that an agent may be given. One that cannot work here says why, and can only be taken away. */
export function ToolPicker({
  value,
  hideLabel,
  onChange,
}: {
  value: string[];
  hideLabel?: boolean;
  onChange: (value: string[]) => void;
}) {
  const can = useCall(web.models.getAbilities, {}).data;
  const why: Record<string, string | null | undefined> = {
    shell: can?.shell.reason,
    code: can?.shell.reason,
    background_jobs: can?.shell.reason,
    browser: can?.browser.reason,
  };
  return (
    <PickMany
      label={texts.tools}
      hideLabel={hideLabel}
      value={value}
      onChange={onChange}
      choices={TEAM_TOOLS.map((tool) => {
        const off = why[tool];
        const isOff = typeof off === 'string';
        return {
          value: tool,
          label: toolNames[tool] ?? tool,
          hint: isOff ? texts.shellOff(off) : toolHints[tool],
          disabled: isOff && !value.includes(tool),
        };
      })}
    />
  );
}
