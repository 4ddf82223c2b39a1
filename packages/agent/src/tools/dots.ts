/** A part of a path that stands for another place: `.` and `..`, however they are written. */
const DOTS = /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\?#]|$)/i;

/** Whether what was filled into an address leads out of the place where it was put. */
export const leadsElsewhere = (filled: string): boolean => DOTS.test(filled.split(/[?#]/, 1)[0] ?? '');

export const NO_DOTS = 'Invalid arguments. A part of the address must not be . or ..';
