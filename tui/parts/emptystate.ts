import { wrapped } from '../../cli/text.js';
import type { ListState, LoadFailure } from '../state/lists.js';
import type { SessionState } from '../state/session.js';
import type { State } from '../state/state.js';
import { boundedText, row, type ScreenRow, type Size, tonedSpan } from './row.js';

export interface EmptyStateTexts {
  /** Plural for messages: `hooks` in "Could not load the hooks". */
  noun: string;
  /** Rows shown for an empty list: a sentence, then what to do. */
  empty: readonly string[];
}

/** Time without a loading row, in milliseconds: most replies come sooner. */
const QUIET_MS = 200;

/** Rows shown if a list has none. */
export const emptyStateRows = (
  list: Pick<ListState<unknown>, 'loadedAt' | 'askedAt' | 'trouble'>,
  words: EmptyStateTexts,
  { session }: State,
  { width }: Size,
): ScreenRow[] => {
  if (list.trouble) return failureRows(list.trouble, words.noun, session, width);
  if (list.loadedAt !== null) return emptyRows(words);
  return loadingRows(list.askedAt, session.now);
};

const emptyRows = ({ empty: [first = '', ...rest] }: EmptyStateTexts): ScreenRow[] => [
  row(tonedSpan('strong', first)),
  ...rest.map((line) => row(line)),
];

const loadingRows = (askedAt: number | null, now: number): ScreenRow[] => {
  const ms = askedAt === null ? 0 : now - askedAt;
  return ms < QUIET_MS ? [] : [row(tonedSpan('muted', `loading ${(ms / 1000).toFixed(1)} s`))];
};

const failureRows = (
  { status, message, requestId }: LoadFailure,
  noun: string,
  { who }: SessionState,
  width: number,
): ScreenRow[] => {
  const request = requestId ? ` (request ${requestId})` : '';
  const explanation = `Could not load the ${noun}: ${status === 0 ? '' : `${status}, `}${message}${request}`;
  const lines = wrapped(boundedText(explanation), width);
  return [...lines.map((line) => row(tonedSpan('danger', line))), row(remedy(status, who))];
};

const remedy = (status: number, who: SessionState['who']): string => {
  if (status === 0) return 'On this machine: adjutant up     ctrl-r retries';
  if (status === 401) return 'Your login session has ended.   enter logs in again';
  if (status === 403) {
    const you = who ? `You are ${who.username} (${who.role}). ` : '';
    return `${you}Ask an admin.   ctrl-r retries`;
  }
  if (status === 404) return 'Not found, or not yours.   esc back';
  return 'ctrl-r retries     see the reason: adjutant logs';
};
