/** Days and months in one form, however they are written: `5 May 2023`, `May 5th, 2023`, `2023-05-05`, `05.05.2023`. */

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const NAME = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}';

const ISO = /\b(\d{4})-(\d{1,2})-(\d{1,2})\b/g;
/** The day first, as most of the world has it where points stand between. */
const POINTS = /\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b/g;
const DAY_FIRST = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${NAME}\\.?(?:,? (\\d{4}))?\\b`, 'gi');
const MONTH_FIRST = new RegExp(`\\b${NAME}\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?\\b`, 'gi');
const MONTH_ONLY = new RegExp(`\\b${NAME}\\.?,? (\\d{4})\\b`, 'gi');

const two = (number: number): string => String(number).padStart(2, '0');

function* forms(year: string | undefined, month: number, day: number | undefined): Generator<string> {
  if (month < 1 || month > 12 || (day !== undefined && (day < 1 || day > 31))) return;
  if (year !== undefined) yield `date${year}${two(month)}`;
  if (day === undefined) return;
  yield `date${two(month)}${two(day)}`;
  if (year !== undefined) yield `date${year}${two(month)}${two(day)}`;
}

const monthOf = (name: string | undefined): number => MONTHS.indexOf((name ?? '').toLowerCase()) + 1;

/** `date20230505`, `date0505` and `date202305`, as far as the text says them: words that nobody writes. */
export function datesIn(text: string): string[] {
  const found: string[] = [];
  if (!/\d/.test(text)) return found;
  for (const [, year, month, day] of text.matchAll(ISO)) found.push(...forms(year, Number(month), Number(day)));
  for (const [, day, month, year] of text.matchAll(POINTS)) found.push(...forms(year, Number(month), Number(day)));
  for (const [, day, month, year] of text.matchAll(DAY_FIRST)) found.push(...forms(year, monthOf(month), Number(day)));
  for (const [, month, day, year] of text.matchAll(MONTH_FIRST))
    found.push(...forms(year, monthOf(month), Number(day)));
  for (const [, month, year] of text.matchAll(MONTH_ONLY)) found.push(...forms(year, monthOf(month), undefined));
  return found;
}
