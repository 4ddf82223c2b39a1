/** Which run it is: of which agent, in which conversation, from which step on. */
export interface RunPlace {
  agentId: string;
  sessionId: string;
  first: number;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const PACKED = /^[\w-]{22}$/;
/** Before an id that is no UUID, and stands there as it is. */
const PLAIN = '!';

/** 22 characters instead of 36. */
function packed(id: string): string {
  if (!UUID.test(id)) return PLAIN + encodeURIComponent(id).replaceAll('~', '%7E');
  const bytes = id.replaceAll('-', '').match(/../g) ?? [];
  const text = btoa(String.fromCharCode(...bytes.map((byte) => Number.parseInt(byte, 16))));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function unpacked(text: string): string | undefined {
  if (text.startsWith(PLAIN)) return decoded(text.slice(1));
  if (!PACKED.test(text)) return undefined;
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const hex = Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** What somebody typed need not be an encoding of anything. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    return undefined;
  }
}

/** How a run is called in an address. */
export const runName = ({ agentId, sessionId, first }: RunPlace): string =>
  [packed(agentId), packed(sessionId), ...(first > 1 ? [first] : [])].join('~');

function partsOf(name: string): [place: Omit<RunPlace, 'first'>, first: string] | undefined {
  const [agent = '', session = '', first = '1', ...more] = name.split('~');
  const [agentId, sessionId] = [unpacked(agent), unpacked(session)];
  return agentId === undefined || sessionId === undefined || more.length > 0
    ? undefined
    : [{ agentId, sessionId }, first];
}

/** Which run an address names; undefined: none. */
export function runOf(name: string): RunPlace | undefined {
  const [place, first = ''] = partsOf(name) ?? [];
  return place && /^[1-9]\d{0,9}$/.test(first) ? { ...place, first: Number(first) } : undefined;
}

/** In place of its first step: whichever is the newest when somebody looks. */
const NEWEST = 'newest';

/** The conversation whose newest run an address names; undefined: it names another one, or none. */
export function newestOf(name: string): Omit<RunPlace, 'first'> | undefined {
  const [place, first] = partsOf(name) ?? [];
  return first === NEWEST ? place : undefined;
}

/** A step behind the `?`: a number stands there without quotes. */
export const stepIn = (key: string): { step: string | number } => ({ step: /^\d{1,9}$/.test(key) ? Number(key) : key });

/** Where a run is looked at. */
export const runAddress = (place: RunPlace): string => `/dashboard/runs/${runName(place)}`;

export const newestAddress = (place: Omit<RunPlace, 'first'>): string =>
  `${runAddress({ ...place, first: 1 })}~${NEWEST}`;
