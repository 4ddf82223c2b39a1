/**
 * Long dialogues, made here and the same each time: two people over 24 days of 25 turns, five pairs of them. In one turn of
 * six somebody says a fact; the others are small talk about the same things, so that no word gives a fact away. Questions ask
 * in other forms of the words (adopted, adopt; 5 May 2025, 2025-05-05), by a name, by the day, and some with hardly a word in
 * common. They are made by rules: they show whether a change makes the search worse, and not how good it is with people.
 */

export interface Turn {
  at: Date;
  text: string;
}
export interface Question {
  asked: string;
  /** Which turn says it. */
  turn: number;
}
export interface Talk {
  turns: Turn[];
  questions: Question[];
}

const PAIRS = [
  ['Maria', 'Tom'],
  ['Ines', 'Karl'],
  ['Priya', 'Joan'],
  ['Olaf', 'Ruth'],
  ['Yuki', 'Sam'],
] as const;
const DAYS = 24;
const TURNS = 25;
const ANIMALS = ['puppy', 'kitten', 'parrot', 'rabbit', 'tortoise', 'pony'];
const NAMES = ['Biscuit', 'Pepper', 'Olive', 'Rusty', 'Hazel', 'Domino', 'Clover', 'Ziggy'];
const CITIES = ['Lisbon', 'Oslo', 'Naples', 'Kyoto', 'Quito', 'Boston', 'Prague', 'Dakar', 'Perth', 'Lyon'];
const RELATIVES = ['sister', 'brother', 'cousin', 'niece', 'uncle', 'daughter'];
const SUBJECTS = ['chemistry', 'law', 'geology', 'medicine', 'history', 'nursing'];
const FOODS = ['peanuts', 'cheese', 'shrimp', 'bread', 'mushrooms'];
const THINGS = ['roof', 'bicycle', 'boiler', 'fence', 'washing machine', 'garage door'];
const TITLES = ['The Salt Road', 'Winter Harbour', 'A Quiet Engine', 'Nine Lanterns', 'The Cartographer', 'Low Tide'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June'];

type Pick = <T>(list: readonly T[]) => T;
type Fact = (pick: Pick, who: string, number: number) => { said: string; asked: string };

const FACTS: readonly Fact[] = [
  (pick, who) => {
    const animal = pick(ANIMALS);
    const said = `We adopted a ${animal} from the shelter and called it ${pick(NAMES)}.`;
    return { said, asked: `What did ${who} call the ${animal} after adopting it?` };
  },
  (pick, who, number) => ({
    said: `I flew to ${pick(CITIES)} for the wedding of an old friend, flight ${number}.`,
    asked: `Where was the wedding that ${who} took flight ${number} to?`,
  }),
  (pick, who) => {
    const relative = pick(RELATIVES);
    const said = `My ${relative} started studying ${pick(SUBJECTS)} in ${pick(CITIES)}.`;
    return { said, asked: `What does the ${relative} of ${who} study?` };
  },
  (pick, who) => ({
    said: `The doctor told me to give up ${pick(FOODS)} for good.`,
    asked: `What food should ${who} not be offered, as the doctors said?`,
  }),
  (pick, who) => {
    const title = pick(TITLES);
    return { said: `I finished reading ${title} on the train.`, asked: `Has ${who} read ${title}, and where?` };
  },
  (pick, who, number) => {
    const thing = pick(THINGS);
    const said = `Repairing the ${thing} was ${number} euros in the end.`;
    return { said, asked: `How much did the repairs of ${who}'s ${thing} cost?` };
  },
  (pick, who, number) => {
    const said = `My dentist moved the appointment to ${(number % 28) + 1} ${pick(MONTHS)} 2026.`;
    return { said, asked: `When are the dentist appointments of ${who}?` };
  },
  (pick, who) => {
    const city = pick(CITIES);
    return { said: `I ran my first marathon in ${city}, slowly.`, asked: `Which marathons has ${who} run in ${city}?` };
  },
  (pick, who) => {
    const name = pick(NAMES);
    return {
      said: `Our neighbour ${name} lent us a ladder and wants it back.`,
      asked: `What does ${who} owe to ${name}?`,
    };
  },
];

const CHATTER: readonly ((pick: Pick) => string)[] = [
  (pick) => `I would love to see ${pick(CITIES)} one day.`,
  (pick) => `A ${pick(ANIMALS)} is so much work, I hear.`,
  (pick) => `My ${pick(RELATIVES)} says hello, by the way.`,
  (pick) => `Have you ever cooked with ${pick(FOODS)}?`,
  () => 'Reading is the best thing on a Sunday, I find.',
  (pick) => `The ${pick(THINGS)} makes that noise again.`,
  () => 'I am always a little afraid of the dentist.',
  (pick) => `Weddings in ${pick(CITIES)} must be nice.`,
  (pick) => `Everybody seems to study ${pick(SUBJECTS)} these days.`,
  () => 'Did you sleep well? It was so windy.',
  () => 'That sounds good, tell me more about it.',
  () => 'Running is fine as long as nobody looks.',
  (pick) => `${pick(NAMES)} is a funny name, is it not?`,
];

const dayOf = (at: Date): string =>
  at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

function talkOf(people: readonly [string, string], random: () => number): Talk {
  const pick: Pick = (list) => list[Math.floor(random() * list.length)]!;
  const talk: Talk = { turns: [], questions: [] };
  for (let day = 0; day < DAYS; day += 1)
    for (let turn = 0; turn < TURNS; turn += 1) {
      const at = new Date(Date.UTC(2025, 3, 1 + 4 * day, 18, turn));
      const who = people[turn % 2]!;
      const number = talk.turns.length;
      if (number % 6 === 0) {
        const { said, asked } = pick(FACTS)(pick, who, 100 + number);
        talk.turns.push({ at, text: `${who}: ${said}` });
        // Every fifth asks for the day too: what was said is known by when it was.
        const when = number % 5 === 0 ? ` It was on ${dayOf(at)}.` : '';
        talk.questions.push({ asked: asked + when, turn: number });
      } else talk.turns.push({ at, text: `${who}: ${pick(CHATTER)(pick)}` });
    }
  return talk;
}

export const makeTalks = (random: () => number): Talk[] => PAIRS.map((people) => talkOf(people, random));
