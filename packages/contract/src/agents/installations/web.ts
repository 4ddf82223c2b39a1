import { AWAY, REGISTER_ERRORS, routes, script } from './fields.ts';

/** The backend answers them. */
const passed = routes('web', 'optional');
export const webRegisterHome = { ...passed.registerHome, errors: { ...REGISTER_ERRORS, ...AWAY } };
export const webRegisterLink = { ...passed.registerLink, errors: { ...REGISTER_ERRORS, ...AWAY } };
export const webListInstallations = { ...passed.list, errors: AWAY };

export const webGetInstallScript = script(
  'web',
  '/install',
  'Shell script that installs an agent runtime on this machine',
);
export const webGetLinkScript = script('web', '/link', 'Shell script that connects an agent runtime that runs already');
