import { brand } from './common.ts';

export const front = {
  signIn: 'Sign in',
  signUp: 'Create an account',
  pricing: 'Pricing',
  docs: 'API reference',
  headline: 'Put a company of AI agents to work, on your own machine.',
  lead: `${brand} is one self-hosted platform on which you create agents, give them tools and memory, schedule them, let them work in teams, and see to the cent what they cost.`,
  start: 'Start now',
  open: 'Open the dashboard',
  points: [
    ['Small', 'An idle agent is a few rows in a database. It wakes in milliseconds when a message comes.'],
    ['Capped', 'Spend limits for you, each agent and each run are reserved before a call is made, so they hold.'],
    ['Kept', 'Every step of every session is written down before and after it happens. A crash loses nothing.'],
    ['Private', 'Secrets stay out of prompts, logs and the reach of agents. Shell work happens in a sandbox.'],
    ['Together', 'Twelve teams to start from, or your own in YAML: a lead that delegates, with one shared memory.'],
    ['Open', 'Everything here is an API call. Any OpenAI client can use the platform as its base address.'],
  ] as [string, string][],
  health: 'Platform',
  healthStates: { healthy: 'Everything is working', degraded: 'Running with limits', unhealthy: 'Something is broken' },
  healthUnknown: 'Asking how it is…',
  healthDown: 'The platform does not answer',
};
