import { z } from 'zod';

/** Begins a message that zod made, so that the server knows to put the field's name before it. */
const GENERATED = ' ';

z.config({ customError: (issue) => GENERATED + describe(issue) });

function describe(issue: { code?: string; [key: string]: unknown }): string {
  const bound = (word: string, limit: unknown) =>
    `must be ${word} ${String(limit)}${issue['origin'] === 'string' ? ' characters' : ''}`;
  switch (issue.code) {
    case 'invalid_type':
      return issue['input'] === undefined ? 'is required' : `must be ${article(String(issue['expected']))}`;
    case 'too_small':
      return bound('at least', issue['minimum']);
    case 'too_big':
      return bound('at most', issue['maximum']);
    case 'invalid_value':
      return `must be one of: ${(issue['values'] as unknown[]).map(String).join(', ')}`;
    case 'invalid_format':
      // All of those without a text of their own say which characters a text may have.
      if (issue['format'] === 'regex') return 'has characters that are not allowed';
      return `is not a valid ${String(issue['format'])}`;
    case 'unrecognized_keys':
      return `has unknown fields: ${(issue['keys'] as string[]).join(', ')}`;
    default:
      return 'is not valid';
  }
}

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

/** The one sentence that a caller is told: the contract's own text where there is one, else the field and what is wrong with it. */
export function validationMessage(error: z.ZodError, whole: string): string {
  const issue = error.issues[0];
  if (issue === undefined) return `${whole} is not valid`;
  if (!issue.message.startsWith(GENERATED)) return issue.message;
  const field = issue.path.map(String).join('.') || whole;
  return field + issue.message;
}

/** Where it is wrong, as a path; undefined: the whole of it is. */
export const invalidField = (error: z.ZodError): string | undefined =>
  error.issues[0]?.path.map(String).join('.') || undefined;
