export const logins = {
  title: 'Sealed logins',
  hint: 'What the agent’s browser signs in with. The agent types a login by its name and never reads it; nobody sees it again.',
  none: 'No logins yet.',
  add: 'Add a login',
  fields: { name: 'Name of the login', origin: 'Site', username: 'Username', password: 'Password' },
  originHint: 'It is typed on this site alone.',
  save: 'Seal it',
  saved: 'The login is sealed.',
  removed: 'The login is gone.',
  removeTitle: (name: string) => `Remove the login ${name}?`,
  removeLoss: 'The agent can no longer sign in with it. What it is signed in to now stays until its run ends.',
};
