import { AppError, textFault, type RequestInfo } from '@troupe/kernel';

/** What programs send to the token endpoint: a form, as the protocol has it. */

const MOST_BYTES = 16_384;

export function formOf({ headers, rawBody }: RequestInfo): URLSearchParams {
  const bad = (error_description: string) => new AppError(400, 'invalid_request', { error_description });
  if (!/^application\/x-www-form-urlencoded\b/i.test(String(headers['content-type'] ?? '')))
    throw bad('The body must be a form');
  if (rawBody.length > MOST_BYTES) throw bad('The form is too large');
  const form = new URLSearchParams(rawBody);
  const fault = textFault(form.toString()) ?? [...form.values()].map(textFault).find(Boolean);
  if (fault !== undefined) throw bad(fault);
  return form;
}
