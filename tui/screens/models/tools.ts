import { wrapped } from '../../../cli/text.js';
import { clean, row, type ScreenRow, type Span, tonedSpan } from '../../parts/row.js';
import { timeOfEvent } from '../../parts/times.js';
import { type CliToolItem, rowsOf } from '../../state/lists.js';
import type { State } from '../../state/state.js';

/** Width of the labels of routes and tools. */
export const LABEL = 10;

/**
 * Returns the status of each command-line tool that can be a model. Those that are not installed
 * share one line.
 */
export const toolRows = ({ lists, session: { now } }: State, width: number): ScreenRow[] => {
  const tools = rowsOf(lists.clitools);
  const absent = tools.filter(({ path }) => path === null).map(({ name }) => name);
  const present = tools.filter(({ path }) => path !== null);
  return [
    ...present.map((tool) => tonedSpan(isInNeed(tool) ? 'warn' : undefined, said(tool, now))),
    ...(absent.length > 0 ? [tonedSpan('muted', `not installed: ${absent.join(', ')}`)] : []),
  ]
    .flatMap(({ tone, text }) =>
      wrapped(clean(text), Math.max(8, width - LABEL)).map((line) => tonedSpan(tone, line)),
    )
    .map((line, at) => row(labelled(at), line));
};

const labelled = (at: number): Span => tonedSpan('muted', (at === 0 ? 'CLI' : '').padEnd(LABEL));

const isInNeed = ({ isRunnable, isLoggedIn, quota }: CliToolItem): boolean =>
  !isRunnable || !isLoggedIn || quota?.exhausted === true;

/** Returns the status of a tool: `claude 2.1 logged in, 38 of 100 until 17:00:00`. */
const said = (tool: CliToolItem, now: number): string => {
  const { name, version, isRunnable, isLoggedIn } = tool;
  const title = [name, version].filter(Boolean).join(' ');
  if (!isRunnable) return `${title} does not run confined`;
  if (!isLoggedIn) return `${title} not logged in: adjutant models cli login ${name}`;
  return [`${title} logged in`, quotaOf(tool, now)].filter(Boolean).join(', ');
};

const quotaOf = ({ quota }: CliToolItem, now: number): string => {
  if (!quota) return '';
  const { used, limit, exhausted, resetsAt } = quota;
  const until = resetsAt === null ? '' : ` until ${timeOfEvent(resetsAt, now)}`;
  if (exhausted) return `used up${until}`;
  if (used === null || limit === null) return '';
  // If the limit is 1, the quota is a fraction.
  const amount = limit === 1 ? `${Math.round(used * 100)} %` : `${used} of ${limit}`;
  return `${amount}${until}`;
};
