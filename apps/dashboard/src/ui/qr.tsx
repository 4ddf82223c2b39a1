import { qrCode } from '../qr.ts';

/** Light modules around it are a part of the code: readers need them. */
const FRAME = 4;

export function Qr({ text, label }: { text: string; label: string }) {
  const rows = qrCode(text);
  if (!rows) return null;
  const size = rows.length + 2 * FRAME;
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x + FRAME} ${y + FRAME}h1v1h-1z` : [])));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      className="size-52 rounded-xl"
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path.join('')} fill="#000" />
    </svg>
  );
}
