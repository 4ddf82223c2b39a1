/** Every English text of the dashboard lives in this folder, one file an area, so that a translation replaces files only. */
export const brand = 'Troupe';

export const states = {
  leftOff: 'This is what you had typed and not saved.',
  beginAnew: 'Begin anew',
  failed: 'That did not work',
  retry: 'Try again',
  unreachable: 'The platform cannot be reached.',
  noAnswer: 'The platform did not answer in time.',
  loading: 'Loading',
  nothing: 'Nothing here yet',
  noMatch: 'Nothing matches the filter',
  filter: 'Filter',
  rows: (shown: number, all: number) => (shown === all ? `${all} in all` : `${shown} of ${all}`),
  saved: 'Saved',
  copied: 'Copied',
  copy: 'Copy',
  notCopied: 'The browser does not let it be copied: mark it and copy it by hand',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  delete: 'Delete',
  create: 'Create',
  more: 'Show more',
  never: 'never',
  unknown: 'unknown',
  typeToConfirm: (word: string) => `Type ${word} to confirm`,
  range: (from: number, to: number, all: number) => `${from}–${to} of ${all}`,
  newer: 'Back',
  older: 'Next',
  partOf: (part: string, whole: string) => `${part} of ${whole}`,
  chartTable: 'The same figures as a table',
};

export const markdown = {
  code: 'code',
  taskDone: 'done',
  taskOpen: 'to do',
};
