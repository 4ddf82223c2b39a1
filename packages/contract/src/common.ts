import { z } from 'zod';

/** Schemas that several areas share. */

export const timestamp = z.iso.datetime();
export const nullableTimestamp = timestamp.nullable();

export const success = z.object({ success: z.literal(true) });

export const idParams = z.object({ id: z.string() });

/** A whole number in a query string, with a default and bounds; out of bounds is pulled to the bound. */
export const wholeQuery = (fallback: number, min: number, max: number) =>
  z
    .string()
    .optional()
    .transform((value) => {
      const number = value === undefined ? fallback : Number.parseInt(value, 10);
      return Number.isNaN(number) ? fallback : Math.min(Math.max(number, min), max);
    });

export const PLAN_NAMES = ['solo', 'collective', 'label', 'network'] as const;
export const planName = z.enum(PLAN_NAMES);
