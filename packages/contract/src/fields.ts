import { z } from 'zod';
import { isEmail } from './email.ts';
import { PASSWORD_LENGTH } from './forms.ts';

/** Fields of requests that several areas share, with their exact texts. */

export const BAD_EMAIL = 'Invalid email format';
export const EMAIL_REQUIRED = 'Email is required';
export const SHORT_PASSWORD = `Password must be at least ${PASSWORD_LENGTH} characters`;

/** A text that must be there; anything else is told `message`. */
export const needed = (message: string) => z.string({ error: message }).trim().min(1, message);
/** Told of a text that is there but too long: without it, a field with a text of its own would be called missing. */
export const tooLong = (name: string, max: number): string => `${name} too long (max ${max})`;
/** The same for passwords, which keep their spaces. */
export const neededSecret = (message: string) => z.string({ error: message }).min(1, message);

export const emailBody = needed(EMAIL_REQUIRED).refine(isEmail, BAD_EMAIL);

export const longEnough = (password: string): boolean => password.length >= PASSWORD_LENGTH;
/** Told of the field, after all fields are there. */
export const shortPassword = (field: string) => ({ error: SHORT_PASSWORD, path: [field] });

export const hex64 = /^[0-9a-f]{64}$/i;

/** Any script, no control characters. */
export const personName = z
  .string()
  .trim()
  .max(100)
  .regex(/^\P{Cc}*$/u, 'Invalid name');

/** What a queue that is shared fairly says to whoever has too much waiting, and to everybody when it is full. */
export const WAITING = 'Too many requests are waiting already. Try again in a moment.';
export const BUSY = 'The service is busy. Try again in a moment.';
