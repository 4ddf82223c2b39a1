import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { base, routes, script, userId } from './fields.ts';

export const { registerHome, registerLink, list } = routes('backend', 'identity');

export const sendHeartbeat = endpoint({
  ...base('backend', 'identity'),
  method: 'POST',
  path: '/api/heartbeat',
  summary: 'Say that an installation is alive',
  body: z.object({ userId: userId.optional() }),
  reply: z.object({ success: z.literal(true), timestamp }),
});

export const getInstallScript = script(
  'backend',
  '/install',
  'Shell script that installs an agent runtime on this machine',
);
export const getLinkScript = script(
  'backend',
  '/link',
  'Shell script that connects an agent runtime that runs already',
);
export const getProgram = script('backend', '/install/agent.mjs', 'The agent runtime, one file');
