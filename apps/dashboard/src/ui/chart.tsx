import { useCallback, useId, useState } from 'react';
import { states } from '../texts/common.ts';
import { BOTTOM, HEIGHT, LEFT, scaleOf } from './chart-scale.ts';
import type { Point, Scale } from './chart-scale.ts';
import { cx } from './cx.ts';

interface Figures {
  label: string;
  points: Point[];
  format: (value: number) => string;
}

/** Bars over time. The picture is for the eye; the same figures follow as a table for screen readers. */
export function Bars({ label, points, format }: Figures) {
  const [active, setActive] = useState<number>();
  const [box, width] = useWidth();
  const title = useId();
  const scale = scaleOf(
    points.map(({ value }) => value),
    width,
  );
  const shown = active === undefined ? undefined : points[active];
  return (
    <figure className="min-w-0" ref={box}>
      <p className="num h-6 text-right text-[0.87rem] text-ink-soft" aria-hidden="true">
        {shown && `${shown.label} · ${figureOf(shown, format)}`}
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
        <Levels scale={scale} width={width} format={format} />
        {points.map((point, index) => (
          <g key={`${point.label}-${index}`} onPointerEnter={() => setActive(index)}>
            <Bar point={point} index={index} scale={scale} isFaint={active !== undefined && active !== index} />
          </g>
        ))}
      </svg>
      <HiddenTable label={label} points={points} format={format} />
    </figure>
  );
}

const figureOf = ({ value, part }: Point, format: Figures['format']): string =>
  part === undefined ? format(value) : states.partOf(format(part), format(value));

/** Lines at nothing, half and the top, and what they stand for. */
function Levels({ scale: { top, y }, width, format }: { scale: Scale; width: number } & Pick<Figures, 'format'>) {
  return [0, 0.5, 1].map((share) => (
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
  ));
}

function Bar({
  point: { label, value, part },
  index,
  scale: { y, step, bar, labelAt },
  isFaint,
}: {
  point: Point;
  index: number;
  scale: Scale;
  isFaint: boolean;
}) {
  const left = LEFT + index * step;
  const below = labelAt(index);
  return (
    <>
      <rect x={left} y="0" width={step} height={HEIGHT} fill="transparent" />
      <rect
        x={left + (step - bar) / 2}
        y={y(value)}
        width={bar}
        height={Math.max(value > 0 ? 2 : 0, HEIGHT - BOTTOM - y(value))}
        rx={Math.min(4, bar * 0.25)}
        className={cx(
          part === undefined ? 'fill-accent' : 'fill-line-strong',
          'transition-opacity',
          isFaint && 'opacity-40',
        )}
      />
      {part !== undefined && part > 0 && (
        <rect
          x={left + (step - bar) / 2}
          y={y(part)}
          width={bar}
          height={Math.max(2, HEIGHT - BOTTOM - y(part))}
          rx={Math.min(4, bar * 0.25)}
          className={cx('fill-accent transition-opacity', isFaint && 'opacity-40')}
        />
      )}
      {below && (
        <text x={below.x} y={HEIGHT - 8} textAnchor={below.anchor} className="fill-ink-faint text-[11px]">
          {label}
        </text>
      )}
    </>
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

function HiddenTable({ label, points, format }: Figures) {
  return (
    <table className="sr-only">
      <caption>
        {label}. {states.chartTable}
      </caption>
      <tbody>
        {points.map((point, index) => (
          <tr key={`${point.label}-${index}`}>
            <th scope="row">{point.label}</th>
            <td>{figureOf(point, format)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
