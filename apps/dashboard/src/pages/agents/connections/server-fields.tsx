import { servers as texts } from '../../../texts/connections.ts';
import { TextArea, TextField } from '../../../ui/field.tsx';
import { isService } from './mcp-server.ts';
import type { NO_SERVER } from './mcp-server.ts';

type Typed = typeof NO_SERVER;

/** What is typed of an MCP server, whoever has it. */
export function ServerFields({ form, onChange }: { form: Typed; onChange: (form: Typed) => void }) {
  return (
    <>
      <TextField
        label={texts.name}
        placeholder="github"
        required
        name="name"
        value={form.name}
        onChange={({ target }) => onChange({ ...form, name: target.value })}
      />
      <TextField
        label={texts.address}
        name="url"
        hint={texts.addressHint}
        mono
        required
        value={form.address}
        onChange={({ target }) => onChange({ ...form, address: target.value })}
      />
      <TextArea
        label={isService(form.address) ? texts.headers : texts.env}
        hint={texts.secretsHint}
        mono
        rows={3}
        value={form.secrets}
        onChange={({ target }) => onChange({ ...form, secrets: target.value })}
      />
      {isService(form.address) && <Registered form={form} onChange={onChange} />}
    </>
  );
}

/** What its maker gave somebody by hand who wants access. */
function Registered({ form, onChange }: { form: Typed; onChange: (form: Typed) => void }) {
  return (
    <>
      <TextField
        label={texts.clientId}
        hint={texts.clientIdHint(`${location.origin}/api/mcp/callback`)}
        mono
        value={form.clientId}
        onChange={({ target }) => onChange({ ...form, clientId: target.value })}
      />
      <TextField
        label={texts.clientSecret}
        hint={texts.clientSecretHint}
        mono
        type="password"
        autoComplete="off"
        value={form.clientSecret}
        onChange={({ target }) => onChange({ ...form, clientSecret: target.value })}
      />
    </>
  );
}
