import { z } from 'zod';
import { isEmail } from './email.ts';

/** Fields of requests that several areas share, with their exact texts. */

export const BAD_EMAIL = 'Invalid email format';
export const EMAIL_REQUIRED = 'Email is required';
export const SHORT_PASSWORD = 'Password must be at least 8 characters';

/** A text that must be there; anything else is told `message`. */
export const needed = (message: string) => z.string({ error: message }).trim().min(1, message);
/** The same for passwords, which keep their spaces. */
export const neededSecret = (message: string) => z.string({ error: message }).min(1, message);

export const emailBody = needed(EMAIL_REQUIRED).refine(isEmail, BAD_EMAIL);

export const longEnough = (password: string): boolean => password.length >= 8;

export const hex64 = /^[0-9a-f]{64}$/i;

/** Any script, no control characters. */
export const personName = z
  .string()
  .trim()
  .max(100)
  .regex(/^\P{Cc}*$/u, 'Invalid name');
