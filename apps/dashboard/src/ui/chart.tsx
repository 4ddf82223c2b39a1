import { useCallback, useId, useState } from 'react';
import { states } from '../texts/common.ts';
import { cx } from './cx.ts';

export interface Point {
  label: string;
  value: number;
}

const HEIGHT = 210;
const TOP = 14;
const BOTTOM = 26;
const LEFT = 58;
const WIDEST_BAR = 46;
/** Room that one label under the bars needs. */
const LABEL = 58;

/** Bars over time. The picture is for the eye; the same figures follow as a table for screen readers. */
export function Bars({ label, points, format }: { label: string; points: Point[]; format: (value: number) => string }) {
  const [active, setActive] = useState<number>();
  const [box, width] = useWidth();
  const title = useId();
  const top = niceTop(Math.max(0, ...points.map(({ value }) => value)));
  const step = (width - LEFT) / Math.max(1, points.length);
  const bar = Math.min(WIDEST_BAR, step * 0.66);
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const every = Math.max(1, Math.ceil(LABEL / step));
  /** A label in the middle of the last, narrow bar would stick out. */
  const atEdge = (index: number) => index === points.length - 1 && step < LABEL;
  const shown = active === undefined ? undefined : points[active];
  return (
    <figure className="min-w-0" ref={box}>
      <p className="num h-6 text-right text-[0.87rem] text-ink-soft" aria-hidden="true">
        {shown && `${shown.label} · ${format(shown.value)}`}
      </p>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        className="block w-full"
        height={HEIGHT}
        role="img"
        aria-labelledby={title}
        onPointerLeave={() => setActive(undefined)}
      >
        <title id={title}>{label}</title>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line
              x1={LEFT}
              x2={width}
              y1={y(top * share)}
              y2={y(top * share)}
              className="stroke-line"
              strokeDasharray={share === 0 ? undefined : '3 5'}
            />
            <text x={LEFT - 10} y={y(top * share) + 4} textAnchor="end" className="num fill-ink-faint text-[11px]">
              {format(top * share)}
            </text>
          </g>
        ))}
        {points.map((point, index) => (
          <g key={`${point.label}-${index}`} onPointerEnter={() => setActive(index)}>
            <rect x={LEFT + index * step} y="0" width={step} height={HEIGHT} fill="transparent" />
            <rect
              x={LEFT + index * step + (step - bar) / 2}
              y={y(point.value)}
              width={bar}
              height={Math.max(point.value > 0 ? 2 : 0, HEIGHT - BOTTOM - y(point.value))}
              rx={Math.min(4, bar * 0.25)}
              className={cx('fill-accent transition-opacity', active !== undefined && active !== index && 'opacity-40')}
            />
            {(points.length - 1 - index) % every === 0 && (
              <text
                x={atEdge(index) ? width : LEFT + index * step + step / 2}
                y={HEIGHT - 8}
                textAnchor={atEdge(index) ? 'end' : 'middle'}
                className="fill-ink-faint text-[11px]"
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

/** Drawn in real pixels: letters keep their size, whatever the width. */
function useWidth(): [(node: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(640);
  const watch = useCallback((node: HTMLElement | null) => {
    if (!node) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(240, Math.round(entry!.contentRect.width))));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return [watch, width];
}

/** The next round number above. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= value) ?? 10) * power;
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
  const total = Math.max(
    points.reduce((sum, { value }) => sum + value, 0),
    Number.MIN_VALUE,
  );
  return (
    <figure className="min-w-0">
      <ul className="flex flex-col gap-3" aria-label={label}>
        {points.map((point) => (
          <li key={point.label} className="min-w-0">
            <div className="flex justify-between gap-4 text-[0.9rem]">
              <span className="min-w-0 truncate" dir="auto">
                {point.label}
              </span>
              <span className="num text-ink-soft">{format(point.value)}</span>
            </div>
            <div className="mt-1 h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
              <div className="h-full rounded-full bg-accent" style={{ width: `${(point.value / total) * 100}%` }} />
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
