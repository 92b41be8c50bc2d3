const DAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const SHORT_NAMES = DAY_NAMES.map((name) => name.slice(0, 3).toUpperCase());
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'];
const LAST_DAY = 31;

/** Longest day that each month has. */
const SHORTEST_MONTH = 28;
const STEPPED: [unit: string, restart: string, size: number][] = [
  ['minutes', 'at minute 0 of each hour', 60],
  ['hours', 'at hour 0 of each day', 24],
];

/** Explains an expression that many read differently. Null for others. */
export const noteOfCron = (cron: string): string | null => {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) return null;
  const notes = [noteOfSteps(fields), noteOfDays(fields)];
  return notes.filter((note) => note !== null).join('. ') || null;
};

/** A step counts from the start of the hour, day or month, also if it does not divide it. */
const noteOfSteps = (fields: string[]): string | null => {
  for (const [at, [unit, restart, size]] of STEPPED.entries()) {
    const step = stepOf(fields[at]);
    if (step > 0 && step < size && size % step !== 0) {
      return `Starts again ${restart}: the last interval is ${size % step} ${unit}, not ${step}`;
    }
  }
  const days = stepOf(fields[2]);
  if (days < 2 || !isAny(fields[4] ?? '*')) return null;
  return `Starts again on day 1 of each month: the last interval can be shorter than ${days} days`;
};

const stepOf = (field = ''): number => Number(/^\*\/(\d+)$/.exec(field)?.[1] ?? 0);

/** With both day fields set, cron runs on either day, although many mean both. */
const noteOfDays = (fields: string[]): string | null => {
  const [minute, hour, day = '*', month = '*', weekday = '*'] = fields;
  if (isAny(day)) return null;
  const days = parseMonthDays(day);
  if (isAny(weekday)) return isAny(month) ? noteOfShortMonths(days) : null;
  const either = `Runs on ${spokenDays(days)}, and on ${spokenWeekdays(weekday)}`;
  const nth = nthWeek(days);
  const only = parseWeekdays(weekday);
  const [one] = only;
  if (nth === null || one === undefined || only.length !== 1) {
    return `${either}. To run on one of the two only, set the other field to *`;
  }
  const name = `the ${ORDINALS[nth - 1]} ${DAY_NAMES[one]}`;
  return `${either}. For ${name} only, use ${[minute, hour, '*', month, `${one}#${nth}`].join(' ')}`;
};

const noteOfShortMonths = ({ numbers, words }: Days): string | null => {
  const [one = 0] = numbers;
  if (numbers.length !== 1 || words.length > 0 || one <= SHORTEST_MONTH) return null;
  return `Runs only in months that have a day ${one}. For the last day of each month, use L`;
};

const isAny = (field: string): boolean => field === '*' || field === '?';

interface Days {
  numbers: number[];
  words: string[];
}

const parseMonthDays = (field: string): Days => {
  const numbers = new Set<number>();
  const words: string[] = [];
  for (const part of field.toUpperCase().split(',')) {
    const near = /^(\d+)W$/.exec(part)?.[1];
    if (part === 'L') words.push('the last day');
    else if (part === 'LW') words.push('the last weekday');
    else if (near !== undefined) words.push(`the weekday nearest to day ${near}`);
    else for (const number of numbersIn(part, 1, LAST_DAY)) numbers.add(number);
  }
  return { numbers: [...numbers].sort((a, b) => a - b), words };
};

const numbersIn = (part: string, smallest: number, largest: number): number[] => {
  const [range = '', step = '1'] = part.split('/');
  const [first, last] = range === '*' ? [smallest, largest] : range.split('-').map(Number);
  const from = first ?? smallest;
  const to = last ?? from;
  const count = Math.max(0, Math.floor((to - from) / Number(step)) + 1);
  return Array.from({ length: count }, (_, at) => from + at * Number(step));
};

const spokenDays = ({ numbers, words }: Days): string => {
  const [one] = numbers;
  const label = numbers.length === 1 ? `day ${one}` : `days ${joined(formatNumberRanges(numbers))}`;
  return joined([...(numbers.length > 0 ? [label] : []), ...words]);
};

const formatNumberRanges = (numbers: number[]): string[] => {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.flatMap(([from, to]) => {
    if (to === from) return [`${from}`];
    return to === from + 1 ? [`${from}`, `${to}`] : [`${from} to ${to}`];
  });
};

const spokenWeekdays = (field: string): string =>
  joined(field.toUpperCase().split(',').map(spokenWeekday));

const spokenWeekday = (part: string): string => {
  const [days = '', nth] = part.split('#');
  if (nth !== undefined) return `the ${ORDINALS[Number(nth) - 1]} ${DAY_NAMES[parseWeekday(days)]}`;
  if (/^.+L$/.test(part)) return `the last ${DAY_NAMES[parseWeekday(part.slice(0, -1))]}`;
  const [from, to] = days.split('-');
  if (to === undefined || part.includes('/')) {
    return joined(parseWeekdays(part).map((day) => `${DAY_NAMES[day]}s`));
  }
  return `${DAY_NAMES[parseWeekday(from ?? '')]}s to ${DAY_NAMES[parseWeekday(to)]}s`;
};

/** From 0 for Sunday. Empty if the field names one of the month. */
const parseWeekdays = (field: string): number[] => {
  if (/#|\dL|[A-Z]{3}L/i.test(field)) return [];
  const named = field.toUpperCase().replace(/[A-Z]{3}/g, (name) => `${parseWeekday(name)}`);
  const days = named.split(',').flatMap((part) => numbersIn(part, 0, 6));
  return [...new Set(days.map((day) => day % 7))];
};

const parseWeekday = (name: string): number => {
  const at = SHORT_NAMES.indexOf(name);
  return at >= 0 ? at : Number(name) % 7;
};

/** Ordinal of the week within the month. Null if the days are not a week. */
const nthWeek = ({ numbers, words }: Days): number | null => {
  const [first = 0] = numbers;
  const isWeek = numbers.length === 7 && numbers.at(-1) === first + 6 && (first - 1) % 7 === 0;
  return isWeek && words.length === 0 ? (first - 1) / 7 + 1 : null;
};

const joined = (parts: string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
