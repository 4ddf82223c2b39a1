import { AWAY, REGISTER_ERRORS, routes, script } from './fields.ts';

/** The backend answers them. */
const passed = routes('web', 'optional');
export const registerHome = { ...passed.registerHome, errors: { ...REGISTER_ERRORS, ...AWAY } };
export const registerLink = { ...passed.registerLink, errors: { ...REGISTER_ERRORS, ...AWAY } };
export const list = { ...passed.list, errors: AWAY };

export const getInstallScript = script(
  'web',
  '/install',
  'Shell script that installs an agent runtime on this machine',
);
export const getLinkScript = script('web', '/link', 'Shell script that connects an agent runtime that runs already');
