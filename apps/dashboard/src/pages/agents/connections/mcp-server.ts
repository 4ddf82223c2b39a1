/** What is typed to attach an MCP server. */
export const NO_SERVER = { name: '', address: '', secrets: '', clientId: '', clientSecret: '' };

/** Of it nothing is kept in the browser. */
export const SECRET_FIELDS = ['secrets', 'clientSecret'] as const;

/** A service has an address on the web; all else is a command that runs one. */
export const isService = (address: string): boolean => /^https?:\/\//i.test(address.trim());

/** `NAME: value` or `NAME=value`, a line each; a line that is neither is left out. */
export function pairs(text: string): Record<string, string> {
  const lines = text.split('\n').map((line) => /^([^:=\s]+)\s*[:=]\s*(.*)$/.exec(line.trim()));
  return Object.fromEntries(lines.flatMap((found) => (found ? [[found[1]!, found[2]!]] : [])));
}

export function serverBody({ address, secrets, clientId, clientSecret }: Omit<typeof NO_SERVER, 'name'>) {
  const given = address.trim();
  const [id, secret] = [clientId.trim(), clientSecret.trim()];
  if (isService(given))
    return { url: given, headers: pairs(secrets), ...(id && { client: { id, ...(secret && { secret }) } }) };
  const [command = '', ...args] = given.split(/\s+/);
  return { command, args, env: pairs(secrets) };
}
