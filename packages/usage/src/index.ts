export type { AiEvent, ToolEvent } from './batch.ts';
export { createCaps, type Cap, type CapChange, type CapPeriod, type Caps, type CapScope } from './caps.ts';
export { COST_SIDES, createCosts, type Costs, type CostSide, type Whose } from './costs.ts';
export { createQueries, firstDay, isoDay, type UsageQueries } from './queries.ts';
export { createSpend, type Amount, type Spend, type Spender, type SpendReservation } from './spend.ts';
export { createWriter, type UsageWriter } from './writer.ts';
