import { benchBackends } from './scale/backends.ts';
import { benchBlobs } from './scale/blobs.ts';
import { benchChats } from './scale/chats.ts';
import { benchFailover } from './scale/failover.ts';
import { benchFollowers } from './scale/followers.ts';
import { benchMillion } from './scale/million.ts';
import { benchStreams } from './scale/streams.ts';
import { benchTasks } from './scale/tasks.ts';

/** What it costs that a platform may run on many machines. Names after it choose parts. */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  blobs: benchBlobs,
  chats: benchChats,
  backends: benchBackends,
  tasks: benchTasks,
  followers: benchFollowers,
  streams: benchStreams,
  failover: benchFailover,
  million: benchMillion,
};

const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(PARTS)) {
  const part = PARTS[name];
  if (!part) throw new Error(`there is no part ${name}: ${Object.keys(PARTS).join(', ')}`);
  await part();
}
