import type { SVGProps } from 'react';

/** Line icons on a 20-unit grid, drawn for this product. */
const PATHS = {
  home: 'M3.5 9.2 10 4l6.5 5.2V16H12v-4.5H8V16H3.5z',
  agents: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 16.5c.6-3.2 3-4.8 6-4.8s5.4 1.6 6 4.8',
  teams:
    'M7 9a2.6 2.6 0 1 0 0-5.2A2.6 2.6 0 0 0 7 9zM2.3 16c.4-2.9 2.2-4.5 4.7-4.5S11.3 13 11.7 16M13 8.8a2.2 2.2 0 1 0-.3-4.4M14 11.5c2 .2 3.3 1.7 3.7 4.5',
  tasks: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4.2l2.8 1.8',
  devices: 'M3 4.5h14v8.5H3zM7 16.5h6M10 13v3.5',
  config: 'M3 6h8M14.5 6H17M3 14h2.5M9 14h8M12.8 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7.2 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  heartbeat: 'M2.5 10.5H6l2-5 3.5 9.5 2.2-4.5h3.8',
  installations: 'M10 3v8.5M6.5 8.2 10 11.7l3.5-3.5M3.5 13v3.5h13V13',
  cost: 'M3.5 16.5v-6M8 16.5V6M12.5 16.5v-8M17 16.5V3.5',
  billing: 'M2.5 5h15v10h-15zM2.5 8.5h15M5.5 12.2h3',
  wallet: 'M3 6h12.5a1.5 1.5 0 0 1 1.5 1.5v7a1.5 1.5 0 0 1-1.5 1.5H4.5A1.5 1.5 0 0 1 3 14.5zM3 6l9.5-2.5V6M13.5 11h.1',
  gateway: 'M3 10h14M12.5 5.5 17 10l-4.5 4.5M3 5v10',
  underground: 'M3.5 16.5v-6a6.5 6.5 0 0 1 13 0v6M8 16.5v-4a2 2 0 0 1 4 0v4',
  policy: 'M10 3l6 2.2v4.6c0 3.6-2.5 6-6 7.2-3.5-1.2-6-3.6-6-7.2V5.2zM7.3 10l2 2 3.5-3.8',
  settings:
    'M10 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM10 2.8v2M10 15.2v2M2.8 10h2M15.2 10h2M4.9 4.9l1.4 1.4M13.7 13.7l1.4 1.4M4.9 15.1l1.4-1.4M13.7 6.3l1.4-1.4',
  admin: 'M4 16.5h12M4.5 13.5 3 6l4 3 3-5 3 5 4-3-1.5 7.5z',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
  plus: 'M10 4v12M4 10h12',
  close: 'M5 5l10 10M15 5 5 15',
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  copy: 'M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7',
  check: 'M4 10.5l4 4 8-9',
  sun: 'M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  moon: 'M16.5 11.8A7 7 0 0 1 8.2 3.5a7 7 0 1 0 8.3 8.3z',
  arrow: 'M4 10h12M11 5l5 5-5 5',
  back: 'M16 10H4M9 5l-5 5 5 5',
  down: 'M5 7.5l5 5 5-5',
  send: 'M3.5 10 17 3.5 12.5 17l-3-5.5z',
  stop: 'M5.5 5.5h9v9h-9z',
  play: 'M6 4l10 6-10 6z',
  restart: 'M15.5 6.5A6.5 6.5 0 1 0 16.5 10M16 3v4h-4',
  wrench: 'M16.5 5.8a4 4 0 0 1-5.3 4.7L5 16.7 3.3 15l6.2-6.2a4 4 0 0 1 4.7-5.3l-2.3 2.3 2.3 2.3z',
  trash: 'M4 5.5h12M8 5.5V3.5h4v2M5.5 5.5l.7 11h7.6l.7-11M8.5 8.5v5M11.5 8.5v5',
  bell: 'M5 13.5V9a5 5 0 0 1 10 0v4.5l1.5 1.5h-13zM8.5 17h3',
  chat: 'M3.5 4h13v9.5H9L5.5 16.5v-3h-2z',
  eye: 'M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5zM10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  warning: 'M10 3.5 17.5 16h-15zM10 8v4M10 14v.1',
  key: 'M7.5 13.5a4 4 0 1 1 3.4-6.1H17.5v3h-2v2.5h-3v-2.5h-1.6a4 4 0 0 1-3.4 3.1zM7.3 9.5h.1',
  book: 'M4 3.5h9.5a2.5 2.5 0 0 1 2.5 2.5v10.5H6.5A2.5 2.5 0 0 1 4 14zM4 14a2.5 2.5 0 0 1 2.5-2.5H16',
  clip: 'M14.5 8.5 9 14a2.8 2.8 0 0 1-4-4l6-6a2 2 0 0 1 2.8 2.8L8 12.6a.9.9 0 0 1-1.3-1.3L11.5 6.5',
  pin: 'M7 3.5h6l-.8 5 2.3 2.5h-9L7.8 8.5zM10 11v6',
  dots: 'M5 10h.1M10 10h.1M15 10h.1',
  file: 'M5 2.8h6.5L15.5 7v10.2H5zM11.5 2.8V7h4',
  folder: 'M2.5 5.5h5l1.5 2h8.5v8.5h-15z',
  edit: 'M4 16l.8-3.6L13.6 3.6l2.8 2.8L7.6 15.2zM11.8 5.4l2.8 2.8',
  exit: 'M8 3.5H4v13h4M12 6.5 15.5 10 12 13.5M7.5 10h8',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18, ...rest }: { name: IconName; size?: number } & SVGProps<SVGSVGElement>) {
  return (
    <svg
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      className="shrink-0"
      {...rest}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" className="shrink-0">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M6 25V14a6 6 0 0 1 6-6v17zM13.5 25V11.5a6 6 0 0 1 5-3.5v17zM20 25V8a6 6 0 0 1 6 6v11z"
        className="fill-on-accent"
      />
    </svg>
  );
}

export type Mood = 'working' | 'waits' | 'ready' | 'off' | 'trouble';

/** Colour and shape are the seed's, the mouth is the mood's. Without one it smiles. */
const MOUTHS: Record<Exclude<Mood, 'ready'>, string> = {
  working: 'M17 25.5a3 2.4 0 1 0 6 0a3 2.4 0 1 0 -6 0',
  waits: 'M15 26.5h10',
  off: 'M16 26.5h8',
  trouble: 'M14 28q6 -5 12 0',
};

/** A small mask drawn from a name: the same agent looks the same everywhere. */
export function Mask({ seed, size = 36, mood = 'ready' }: { seed: string; size?: number; mood?: Mood }) {
  let hash = 2_166_136_261;
  for (const char of seed) hash = Math.imul(hash ^ char.codePointAt(0)!, 16_777_619) >>> 0;
  const hue = hash % 360;
  const brow = 12 + ((hash >> 9) % 5);
  const smile = 3 + ((hash >>> 13) % 5);
  const eye = 1.6 + ((hash >>> 17) % 3) * 0.5;
  return (
    // As few parts as possible: lists draw hundreds. An eye is a line without length, with round ends.
    <svg
      viewBox="0 0 40 40"
      width={size}
      height={size}
      aria-hidden="true"
      className="shrink-0 rounded-xl"
      style={{ background: `hsl(${hue} 32% 42%)` }}
      stroke={`hsl(${hue} 40% 22%)`}
      strokeLinecap="round"
      fill="none"
    >
      <path d="M8 7h24v14c0 8-5.5 13-12 13S8 29 8 21z" fill={`hsl(${(hue + 25) % 360} 45% 88%)`} stroke="none" />
      <path
        d={`M12 ${brow + 1}q3-2 5.5 0M22.5 ${brow + 1}q3-2 5.5 0${mood === 'ready' ? `M14 25q6 ${smile} 12 0` : MOUTHS[mood]}`}
        strokeWidth="2"
      />
      <path
        d={mood === 'off' ? 'M13.5 18.5h3M23.5 18.5h3' : 'M15 18.5h0M25 18.5h0'}
        strokeWidth={mood === 'off' ? 2 : eye * 2}
      />
    </svg>
  );
}
