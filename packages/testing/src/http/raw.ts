import http from 'node:http';

/** A request exactly as it is written: `fetch` would tidy its path, its headers and its body. */
interface RawRequest {
  method?: string;
  path: string;
  headers?: http.OutgoingHttpHeaders;
  body?: string | Buffer;
  /** Milliseconds until there is no answer; 10,000 unless said. */
  timeout?: number;
  agent?: http.Agent;
}

interface RawReply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  ms: number;
}

class NoAnswer extends Error {}

export function sendRaw(base: string, given: RawRequest): Promise<RawReply> {
  const { method = 'GET', path, headers = {}, body, timeout = 10_000, agent } = given;
  const { hostname, port } = new URL(base);
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, method, path, headers, agent });
    const timer = setTimeout(() => request.destroy(new NoAnswer(`no answer within ${timeout} ms`)), timeout);
    const end = (done: () => void): void => {
      clearTimeout(timer);
      done();
    };
    request.on('error', (error) => end(() => reject(error)));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', (error) => end(() => reject(error)));
      response.on('end', () =>
        end(() =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            ms: performance.now() - began,
          }),
        ),
      );
    });
    request.end(body);
  });
}
