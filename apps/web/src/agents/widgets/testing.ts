import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { eventsOf } from '@troupe/contract';
import { send, type Body, type Person, type Reply } from '@troupe/testing/services/people';

/** Visitors of widgets, as a page of a site has them. */

export const SITE = 'https://shop.example';

export async function newWidget(who: Person, agentId: string, body: object = {}): Promise<Body> {
  const made = await who.ask('POST', `/api/agents/${agentId}/widgets`, { origins: [SITE], ...body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.widget;
}

interface Heard {
  id?: string;
  event: string;
  data: Body;
}

/** What comes over a stream, as it comes. */
async function listen(url: string, headers: Record<string, string>) {
  const ended = new AbortController();
  const response = await fetch(url, { headers, signal: ended.signal });
  assert.equal(response.status, 200, response.ok ? '' : await response.text());
  const heard: Heard[] = [];
  const news = new EventEmitter();
  const over = (async () => {
    try {
      for await (const { event = '', id, data } of eventsOf(response)) {
        heard.push({ ...(id !== undefined && { id }), event, data: JSON.parse(data) });
        news.emit('heard');
      }
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    }
  })();
  return {
    heard,
    over,
    texts: (role: string) => heard.filter(({ data }) => data.role === role).map(({ data }) => data.text as string),
    async until(wanted: (one: Heard) => boolean): Promise<Heard> {
      for (;;) {
        const found = heard.find(wanted);
        if (found) return found;
        await once(news, 'heard', { signal: AbortSignal.timeout(20_000) });
      }
    },
    async stop() {
      ended.abort();
      await over;
    },
  };
}

let visitors = 0;

/** Somebody on a page of a site, from an address of their own. */
export function visitorOf(web: string, key: string, origin = SITE) {
  visitors += 1;
  const address = `203.0.${visitors >> 8}.${visitors & 255}`;
  let token = '';
  const headers = (): Record<string, string> => ({
    origin,
    'x-forwarded-for': address,
    ...(token !== '' && { authorization: `Bearer ${token}` }),
  });
  const ask = (path: string, body: object = {}): Promise<Reply> =>
    send(`${web}/api/widgets/${key}/${path}`, 'POST', body, headers());
  return {
    ask,
    headers,
    token: () => token,
    use: (given: string) => void (token = given),
    async come(): Promise<Body> {
      const { status, body } = await ask('visitors', token === '' ? {} : { token });
      assert.equal(status, 200, JSON.stringify(body));
      token = body.token;
      return body;
    },
    say: (message: string, id?: string) => ask('messages', { message, ...(id !== undefined && { id }) }),
    listen: (last = 0) =>
      listen(`${web}/api/widgets/${key}/events`, { ...headers(), ...(last > 0 && { 'last-event-id': String(last) }) }),
  };
}
