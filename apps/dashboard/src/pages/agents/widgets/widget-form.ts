import { WIDGET_DEFAULTS } from '@troupe/contract';
import type { TypesOf, web, Widget } from '@troupe/contract';

/** As it stands in the fields. */
export interface WidgetForm {
  title: string;
  greeting: string;
  colour: string;
  scheme: Widget['scheme'];
  origins: string;
  hosted: boolean;
  abilities: Widget['abilities'];
  handsOver: boolean;
  messagesPerHour: string;
  dailyCapUsd: string;
  retentionDays: string;
}

export const formOf = (widget: Widget | undefined): WidgetForm => {
  const from = widget ?? WIDGET_DEFAULTS;
  return {
    title: from.title,
    greeting: from.greeting,
    colour: from.colour,
    scheme: from.scheme,
    origins: from.origins.join('\n'),
    hosted: from.hosted,
    abilities: from.abilities,
    handsOver: from.handsOver,
    messagesPerHour: String(from.messagesPerHour),
    dailyCapUsd: String(from.dailyCapUsd),
    retentionDays: String(from.retentionDays),
  };
};

/** What is no number is told by the contract's own sentence. */
const number = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text.replace(',', '.')));

export const bodyOf = (form: WidgetForm): TypesOf<typeof web.widgets.create>['sent']['body'] => ({
  ...form,
  origins: form.origins
    .split(/\s+/)
    .map((line) => line.trim())
    .filter(Boolean),
  messagesPerHour: number(form.messagesPerHour),
  dailyCapUsd: number(form.dailyCapUsd),
  retentionDays: number(form.retentionDays),
});
