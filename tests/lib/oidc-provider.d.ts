declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Grant {
    addOIDCScope: (scope: string) => void;
    save: () => Promise<string>;
  }
  interface Context {
    oidc: { session: { accountId: string }; client: { clientId: string } };
  }
  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    Grant: new (given: { accountId: string; clientId: string }) => Grant;
    callback: () => (request: IncomingMessage, response: ServerResponse) => void;
    interactionFinished: (request: IncomingMessage, response: ServerResponse, result: object) => Promise<void>;
  }
  export type KoaContextWithOIDC = Context;
  class Prompt {
    constructor(options: { name: string; requestable: boolean });
  }
  export const interactionPolicy: {
    Prompt: typeof Prompt;
    base: () => unknown[] & { add: (prompt: Prompt, index: number) => void };
  };
}
