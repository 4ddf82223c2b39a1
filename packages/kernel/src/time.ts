export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

export const iso = (date: Date): string => date.toISOString();

export const isoOrNull = (date: Date | null): string | null => date?.toISOString() ?? null;

export const unixMs = (date: Date): number => date.getTime();
