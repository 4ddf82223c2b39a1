/** Any settings; which of them mean something is the platform's to say. */
export type Config = Record<string, unknown>;

export const configText = (config: Config): string => JSON.stringify(config, null, 2);

/** Undefined: it is no JSON, or no object. */
export function parseConfig(text: string): Config | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : undefined;
  } catch {
    return undefined;
  }
}

/** A list as lines of text; what is no list is none. */
export const lines = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : '');

export const toList = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
