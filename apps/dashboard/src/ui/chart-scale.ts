export interface Point {
  label: string;
  value: number;
  /** Of the value, what is shown apart from the rest. */
  part?: number;
}

export const HEIGHT = 210;
const TOP = 14;
export const BOTTOM = 26;
export const LEFT = 58;
const WIDEST_BAR = 46;
/** Room that one label under the bars needs. */
const LABEL = 58;

/** The next round number above. */
export function niceTop(value: number): number {
  if (!(value > 0) || value === Infinity) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

export interface Scale {
  /** What the upper line stands for. */
  top: number;
  y: (value: number) => number;
  /** The room of one bar, and the bar's own width. */
  step: number;
  bar: number;
  /** Where the label below a bar stands; undefined: there is no room for one. */
  labelAt: (index: number) => { x: number; anchor: 'middle' | 'end' } | undefined;
}

/** Bars of these values in a picture of this width. */
export function scaleOf(values: readonly number[], width: number): Scale {
  const count = values.length;
  const top = niceTop(values.reduce((most, value) => (value > most ? value : most), 0));
  const step = (width - LEFT) / Math.max(1, count);
  const every = Math.max(1, Math.ceil(LABEL / step));
  const share = (value: number) => (value > 0 ? Math.min(1, value / top) : 0);
  return {
    top,
    y: (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share(value)),
    step,
    bar: Math.min(WIDEST_BAR, step * 0.66),
    labelAt(index) {
      if ((count - 1 - index) % every !== 0) return undefined;
      // A label in the middle of the last, narrow bar would stick out.
      const isAtEdge = index === count - 1 && step < LABEL;
      return isAtEdge ? { x: width, anchor: 'end' } : { x: LEFT + index * step + step / 2, anchor: 'middle' };
    },
  };
}
