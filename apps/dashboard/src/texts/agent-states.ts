/** What an agent is doing, in the words of the overview. */
export const agentStates: Record<string, string> = {
  pending: 'being made',
  provisioning: 'being made',
  running: 'ready',
  active: 'ready',
  stopped: 'off',
  error: 'in trouble',
  failed: 'in trouble',
};
