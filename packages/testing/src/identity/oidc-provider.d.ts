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
  export const interactionPolicy: {
    Prompt: new (options: { name: string; requestable: boolean }) => object;
    base: () => object[] & { add: (prompt: object, index: number) => void };
  };
}
