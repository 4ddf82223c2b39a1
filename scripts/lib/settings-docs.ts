import { settingDocs, type SettingDoc } from '@troupe/kernel';

function sections(): [name: string, settings: SettingDoc[]][] {
  return Object.entries(Object.groupBy(settingDocs(), ({ section }) => section)).map(([name, found]) => [
    name,
    found ?? [],
  ]);
}

export function envExample(): string {
  const parts = sections().map(
    ([name, settings]) =>
      `# --- ${name} ---\n\n${settings.map((setting) => `# ${setting.doc}\n#${setting.name}=${setting.example}`).join('\n\n')}\n`,
  );
  return `# Every setting, with its default. Copy this file to .env and take away the # of what you change.
# Set variables win over .env. Printed by: npm run docs:settings

${parts.join('\n')}`;
}

export function settingsPage(): string {
  const row = ({ name, doc, example, secret }: SettingDoc) =>
    `| \`${name}\` | ${doc}${secret ? ' (secret)' : ''} | ${example === '' ? '' : `\`${example}\``} |`;
  const parts = sections().map(
    ([name, settings]) =>
      `## ${name}\n\n| Setting | Meaning | Default |\n|---|---|---|\n${settings.map(row).join('\n')}\n`,
  );
  return `# Settings

Settings are environment variables, or lines of a file \`.env\` in the project folder; a set variable wins over the file.
They are read once, at the start. A value that does not parse stops the start with a line that names it, and every
such line is shown at once. Secrets are never logged. This page is printed from the table in
packages/kernel/src/settings.ts by \`npm run docs:settings\`, and a test fails when the two differ.

${parts.join('\n')}`;
}
