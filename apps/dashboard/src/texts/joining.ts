export const joining = {
  title: 'Who may join',
  hint: 'Counts for new accounts, also by GitHub, Google and wallets. Whoever is here already stays as they are.',
  who: 'New accounts',
  modes: {
    open: 'Open: anybody may make one',
    invite: 'By invitation only',
    closed: 'Closed: nobody new',
  },
  plan: 'Begin with',
  nothing: 'Nothing: they ask for access',
  days: 'For how many days',
  daysHint: 'Empty: until you change it.',
  save: 'Save',
  saved: 'Saved. It counts for the next new account.',
};

/** On the page where an account is made. */
export const notJoining = {
  invite: 'This installation takes new people by invitation. Open the link of yours, or paste its code.',
  closed: 'This installation takes no new people at the moment. Its administrators can tell you more.',
  haveCode: 'I have an invitation',
};
