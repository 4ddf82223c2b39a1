import { chatFace, messagesFace, messagesRequest, responsesFace, type Ai, type Face } from '@troupe/ai';
import { backend, type Endpoint, type EndpointTypes } from '@troupe/contract';
import type { Catalogue } from '@troupe/domain';
import { serve, type Clock, type Server, type User } from '@troupe/kernel';
import type { Access } from './access.ts';
import type { StoredResponses } from '../responses/service.ts';
import type { Calls } from './calls.ts';
import { createV1Models } from './v1-models.ts';

export interface V1Deps {
  ai: Ai;
  catalogue: Catalogue;
  clock: Clock;
  access: Access;
  calls: Calls;
  responses: StoredResponses;
}

type Spoken = EndpointTypes & { auth: 'internalOrKey' };

/** What clients of OpenAI and of Anthropic find here. */
export function v1Routes(server: Server, { ai, catalogue, clock, access, calls, responses }: V1Deps): void {
  const models = createV1Models({ ai, catalogue, access });
  const seconds = () => Math.floor(clock().getTime() / 1000);

  /** Every protocol that talks to models is served alike: its face reads and writes, all else is the same. */
  function speak<T extends Spoken>(endpoint: Endpoint<T>, face: Face<T['body']>): void {
    serve(server, endpoint, ({ user, body, request }) => {
      const scope = access.byKey(user as User | null, request.headers);
      const context = { body, created: seconds() };
      const chat = face.request(body);
      if (face.wantsStream(body)) return calls.stream(chat, scope, request, face.writer(context));
      return calls.answer(chat, scope, request, (result) => face.reply(result, context) as T['reply']);
    });
  }

  speak(backend.v1.completeChat, chatFace);
  speak(backend.v1.createMessage, messagesFace);

  serve(server, backend.v1.createResponse, async ({ user, body, request }) => {
    const scope = access.byKey(user, request.headers);
    const { whole, kept } = await responses.begin(user?.id, body, request);
    const context = { body, created: seconds(), kept };
    const chat = responsesFace.request(whole);
    if (responsesFace.wantsStream(body)) return calls.stream(chat, scope, request, responsesFace.writer(context));
    return calls.answer(chat, scope, request, async (result) => {
      const reply = responsesFace.reply(result, context);
      await kept?.keep(reply);
      return reply as never;
    });
  });

  serve(server, backend.v1.countTokens, ({ user, body, request }) => {
    const scope = access.byKey(user, request.headers);
    return calls.within(scope, request, async (options) => ({
      input_tokens: await ai.count(messagesRequest(body), options),
    }));
  });

  serve(server, backend.v1.createEmbeddings, ({ user, body, request }) => {
    const scope = access.byKey(user, request.headers);
    const { model: asked, input, dimensions, encoding_format: format } = body;
    const wanted = { input, ...(dimensions && { dimensions }), ...(format && { encoding_format: format }) };
    return calls.within(scope, request, async (options) => {
      const { model, data, usage } = await ai.embed(asked, wanted, options);
      return { object: 'list' as const, model, data, usage };
    });
  });

  serve(server, backend.v1.listModels, async ({ user, request }) => {
    const data = await models.list(user, request.headers);
    const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return { object: 'list' as const, data, has_more: false as const, first_id: first, last_id: last };
  });

  serve(server, backend.v1.getModel, ({ user, params, request }) => models.get(user, request.headers, params.id));
  serve(server, backend.v1.getVendorsModel, ({ user, params, request }) =>
    models.get(user, request.headers, `${params.id}/${params.name}`),
  );
}
