import { useId, useState } from 'react';
import { states } from '../texts/common.ts';
import { cx } from './cx.ts';

export interface Point {
  label: string;
  value: number;
}

const WIDTH = 640;
const HEIGHT = 200;
const TOP = 12;
const BOTTOM = 26;

/** Bars over time. The picture is for the eye; the same figures follow as a table for screen readers. */
export function Bars({ label, points, format }: { label: string; points: Point[]; format: (value: number) => string }) {
  const [active, setActive] = useState<number>();
  const title = useId();
  const top = niceTop(Math.max(0, ...points.map(({ value }) => value)));
  const step = WIDTH / Math.max(1, points.length);
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const every = Math.ceil(points.length / 8);
  return (
    <figure className="min-w-0">
      <div className="num flex h-6 items-baseline justify-between text-[0.87rem] text-ink-faint" aria-hidden="true">
        <span>{format(top)}</span>
        {active !== undefined && points[active] && (
          <span className="text-ink">
            {points[active].label} · {format(points[active].value)}
          </span>
        )}
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className="block h-auto w-full"
        role="img"
        aria-labelledby={title}
        onPointerLeave={() => setActive(undefined)}
      >
        <title id={title}>{label}</title>
        {[0, 0.5, 1].map((share) => (
          <line
            key={share}
            x1="0"
            x2={WIDTH}
            y1={y(top * share)}
            y2={y(top * share)}
            className="stroke-line"
            strokeDasharray={share === 0 ? undefined : '3 5'}
          />
        ))}
        {points.map((point, index) => (
          <g key={`${point.label}-${index}`} onPointerEnter={() => setActive(index)}>
            <rect x={index * step} y="0" width={step} height={HEIGHT} fill="transparent" />
            <rect
              x={index * step + step * 0.18}
              y={y(point.value)}
              width={step * 0.64}
              height={Math.max(point.value > 0 ? 2 : 0, HEIGHT - BOTTOM - y(point.value))}
              rx={Math.min(4, step * 0.2)}
              className={cx('fill-accent transition-opacity', active !== undefined && active !== index && 'opacity-40')}
            />
            {index % every === 0 && (
              <text
                x={index * step + step / 2}
                y={HEIGHT - 8}
                textAnchor="middle"
                className={cx(
                  'fill-ink-faint text-[11px] max-sm:text-[20px]',
                  (index / every) % 2 === 1 && 'max-sm:hidden',
                )}
              >
                {point.label}
              </text>
            )}
          </g>
        ))}
      </svg>
      <HiddenTable label={label} points={points} format={format} />
    </figure>
  );
}

/** The next round number above: 1, 2, 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

/** Shares of a whole, longest first. */
export function Shares({
  label,
  points,
  format,
}: {
  label: string;
  points: Point[];
  format: (value: number) => string;
}) {
  const top = Math.max(...points.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <figure className="min-w-0">
      <ul className="flex flex-col gap-3" aria-label={label}>
        {points.map((point) => (
          <li key={point.label} className="min-w-0">
            <div className="flex justify-between gap-4 text-[0.9rem]">
              <span className="min-w-0 truncate">{point.label}</span>
              <span className="num text-ink-soft">{format(point.value)}</span>
            </div>
            <div className="mt-1 h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
              <div className="h-full rounded-full bg-accent" style={{ width: `${(point.value / top) * 100}%` }} />
            </div>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** How much of a limit is used up. */
export function Gauge({ label, used, limit, text }: { label: string; used: number; limit: number; text: string }) {
  const share = limit > 0 ? Math.min(1, used / limit) : 0;
  return (
    <div className="min-w-0">
      <div className="flex justify-between gap-4 text-[0.9rem]">
        <span>{label}</span>
        <span className="num text-ink-soft">{text}</span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
        aria-valuetext={text}
        className="mt-1.5 h-2 overflow-hidden rounded-full bg-sunken"
      >
        <div
          className={cx('h-full rounded-full', share >= 0.9 ? 'bg-danger' : share >= 0.7 ? 'bg-spot' : 'bg-accent')}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </div>
  );
}

function HiddenTable({ label, points, format }: { label: string; points: Point[]; format: (value: number) => string }) {
  return (
    <table className="sr-only">
      <caption>
        {label}. {states.chartTable}
      </caption>
      <tbody>
        {points.map((point, index) => (
          <tr key={`${point.label}-${index}`}>
            <th scope="row">{point.label}</th>
            <td>{format(point.value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
