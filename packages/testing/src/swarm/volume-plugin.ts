import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';

/** A volume driver, by the protocol of Docker's volume plugins: folders of one disk that every node reaches. */

interface Asked {
  Name: string;
  Opts?: Record<string, string> | null;
}

const TYPE = 'application/vnd.docker.plugins.v1.1+json';
const OPTIONS = '.options.json';

export async function serveVolumes(socket: string, folder: string): Promise<{ close: () => void }> {
  await mkdir(folder, { recursive: true });
  const at = (name: string): string => path.join(folder, path.basename(name));
  const options = async (name: string): Promise<object> => JSON.parse(await readFile(at(name) + OPTIONS, 'utf8'));
  async function found(name: string): Promise<string> {
    if (!(await stat(at(name)).catch(() => undefined))) throw new Error('no such volume');
    return at(name);
  }

  const answers: Record<string, (asked: Asked) => Promise<object>> = {
    'Plugin.Activate': async () => ({ Implements: ['VolumeDriver'] }),
    'VolumeDriver.Capabilities': async () => ({ Capabilities: { Scope: 'global' } }),
    async 'VolumeDriver.Create'({ Name, Opts }) {
      await mkdir(at(Name), { recursive: true });
      await writeFile(at(Name) + OPTIONS, JSON.stringify(Opts ?? {}));
      return {};
    },
    async 'VolumeDriver.Remove'({ Name }) {
      await rm(await found(Name), { recursive: true });
      await rm(at(Name) + OPTIONS, { force: true });
      return {};
    },
    'VolumeDriver.Mount': async ({ Name }) => ({ Mountpoint: await found(Name) }),
    'VolumeDriver.Path': async ({ Name }) => ({ Mountpoint: await found(Name) }),
    'VolumeDriver.Unmount': async () => ({}),
    'VolumeDriver.Get': async ({ Name }) => ({
      Volume: { Name, Mountpoint: await found(Name), Status: await options(Name) },
    }),
    async 'VolumeDriver.List'() {
      const names = (await readdir(folder)).filter((name) => !name.endsWith(OPTIONS));
      return { Volumes: names.map((Name) => ({ Name, Mountpoint: at(Name) })) };
    },
  };

  async function reply(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of request) text += String(piece);
    const answer = answers[(request.url ?? '').slice(1)];
    const told = await Promise.resolve(answer?.(JSON.parse(text || '{}') as Asked)).then(
      (body) => ({ status: body ? 200 : 404, body: { Err: '', ...body } }),
      (error: Error) => ({ status: 500, body: { Err: error.message } }),
    );
    response.writeHead(told.status, { 'content-type': TYPE }).end(JSON.stringify(told.body));
  }

  const server = http.createServer((request, response) => {
    // An engine that is killed cuts what it asked.
    reply(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  return { close: () => void server.close() };
}
