import { COST_SIDES } from '@troupe/contract';
import type { CostSide, CostsReply } from '@troupe/contract';
import { modelName } from '../../../models.ts';
import { costs as texts } from '../../../texts/costs.ts';

export type Side = CostSide | 'user';
export type Row = CostsReply['rows'][number];

/** Rows that are shown at once. */
export const PAGE = 100;

/** Everybody's are by user, too. */
export const sidesOf = (ofAll: boolean): readonly Side[] => (ofAll ? ['user', ...COST_SIDES] : COST_SIDES);

/** A side that is none is the first. */
export function sideOf(given: string | undefined, ofAll: boolean): Side {
  const sides = sidesOf(ofAll);
  return sides.find((side) => side === given) ?? sides[0]!;
}

/** What a row is called; one that is deleted has no name any more. */
export function nameOf(by: Side, { id, name }: Pick<Row, 'id' | 'name'>): string {
  if (by === 'model') return modelName(id);
  return name ?? (id === '' ? texts.without[by] : texts.gone[by]);
}
