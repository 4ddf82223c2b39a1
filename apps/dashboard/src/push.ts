import { push as texts } from './texts/account.ts';

/** Messages that the platform pushes to this browser: asked for, looked up and ended here. */

export interface Subscribed {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

export type PushState = 'unsupported' | 'denied' | 'off' | 'on';

const isThere = () => 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;

async function current(): Promise<PushSubscription | null> {
  const registration = isThere() ? await navigator.serviceWorker.getRegistration() : undefined;
  return (await registration?.pushManager.getSubscription()) ?? null;
}

/** How this browser stands, and by which address it is told. */
export async function lookAtPush(): Promise<{ state: PushState; endpoint?: string }> {
  if (!isThere()) return { state: 'unsupported' };
  if (Notification.permission === 'denied') return { state: 'denied' };
  const found = await current();
  return found ? { state: 'on', endpoint: found.endpoint } : { state: 'off' };
}

/** Asks the person, then the browser. Undefined: the person said no. */
export async function beginPush(publicKey: string): Promise<Subscribed | undefined> {
  if ((await Notification.requestPermission()) !== 'granted') return undefined;
  const registration = await navigator.serviceWorker.ready;
  // One that was made for other keys cannot be used with these.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const made = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: bytesOf(publicKey),
  });
  const { endpoint, keys } = made.toJSON();
  return { endpoint: endpoint ?? '', keys: { p256dh: keys?.['p256dh'] ?? '', auth: keys?.['auth'] ?? '' } };
}

export async function endPush(): Promise<void> {
  await (await current())?.unsubscribe();
}

export function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/(Headless)?Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS/, 'macOS'],
  [/Windows/, 'Windows'],
  [/Linux/, 'Linux'],
];

/** Firefox on Linux */
export function deviceName(agent: string): string {
  const named = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(agent))?.[1];
  return texts.deviceOn(named(BROWSERS) ?? texts.aBrowser, named(SYSTEMS) ?? texts.aSystem);
}
