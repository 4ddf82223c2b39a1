import { HELLO } from './calls.ts';

/** Addresses of the agent itself, for programs that know how to talk to any of its kind. */
export type AddressKind = 'openai' | 'mcp';

/** Where its gateway is: as the address of its web chat says. */
export const gatewayOf = (websocketUrl: string): string => websocketUrl.replace(/^ws/, 'http').replace(/\/ws\?.*$/, '');

/** A program with the client of OpenAI, with all but the key filled in. */
export const openAiCall = (gateway: string, agentId: string): string =>
  [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url='${gateway}/v1', api_key='sk_…')`,
    'answer = client.chat.completions.create(',
    `    model='${agentId}', messages=[{'role': 'user', 'content': '${HELLO}'}]`,
    ')',
    'print(answer.choices[0].message.content)',
  ].join('\n');
