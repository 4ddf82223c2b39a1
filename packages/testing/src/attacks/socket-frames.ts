import { once } from 'node:events';
import { WebSocket } from 'ws';
import { unless, type Prepare } from './hostile.ts';

const FRAMES = 40_000;

/** One socket that sends frames as fast as it can, each of which starts to follow a conversation. */
export const hostileSocketFrames: Prepare = async ({ attacker }) => {
  await attacker.chat({ say: 'hello' });
  const sessions = await attacker.ask('GET', `/api/agents/${attacker.agentId}/sessions`);
  const frame = JSON.stringify({ type: 'watch', session: sessions.body.sessions[0].id });
  const shown = await attacker.ask('GET', `/api/agents/${attacker.agentId}`);
  const url = (shown.body.agent ?? shown.body).websocketUrl as string;
  let socket: WebSocket | undefined;
  return {
    attack: async (signal) => {
      socket = new WebSocket(url);
      // Being cut off is how it should end.
      socket.on('error', () => {});
      const closed = new Promise((resolve) => socket?.once('close', resolve));
      await Promise.race([once(socket, 'open'), closed]);
      for (let sent = 0; sent < FRAMES && socket.readyState === WebSocket.OPEN && !signal.aborted; sent += 1)
        await new Promise((resolve) => socket?.send(frame, resolve));
      const answered = new Promise((resolve) => socket?.once('pong', resolve));
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      await unless(signal, Promise.race([closed, answered]));
    },
    end: async () => socket?.terminate(),
  };
};
