import { wrapped } from '../../cli/text.js';
import type { ListState, Trouble } from '../state/lists.js';
import { clean, row, type ScreenRow, type Size, tonedSpan } from './row.js';

export interface FaceWords {
  /** The plural for a sentence such as "Could not load the hooks": `hooks`. */
  noun: string;
  /** The rows that stand in place of an empty list: a sentence, then what to do. */
  empty: readonly string[];
  who: { username: string; role: string } | null;
  now: number;
  width: number;
}

/** Returns what every placeholder needs of the session and of the size. */
export const facing = (
  { who, now }: Pick<FaceWords, 'who' | 'now'>,
  { width }: Size,
): Pick<FaceWords, 'who' | 'now' | 'width'> => ({ who, now, width });

/** Returns the rows in place of one thing that is not known, or no longer exists. */
export const goneRows = (
  list: Pick<ListState<unknown>, 'loadedAt' | 'askedAt' | 'trouble'>,
  noun: string,
  words: Pick<FaceWords, 'who' | 'now' | 'width'>,
): ScreenRow[] => {
  const empty = [`There is no such ${noun} any more.`, '  esc  back'];
  return faceOf({ ...list, order: [] }, { ...words, noun: `${noun}s`, empty }) ?? [];
};

/** No loading row is shown for this many milliseconds: most replies come sooner. */
const QUIET_MS = 200;

/** Returns the rows in place of a list that has nothing to show; null if the list has rows. */
export const faceOf = (
  list: Pick<ListState<unknown>, 'order' | 'loadedAt' | 'askedAt' | 'trouble'>,
  words: FaceWords,
): ScreenRow[] | null => {
  if (list.order.length > 0) return null;
  if (list.trouble) return troubleRows(list.trouble, words);
  if (list.loadedAt !== null) return emptyRows(words);
  return loadingRows(list.askedAt, words.now);
};

const emptyRows = ({ empty: [first = '', ...rest] }: FaceWords): ScreenRow[] => [
  row(tonedSpan('strong', first)),
  ...rest.map((line) => row(line)),
];

const loadingRows = (askedAt: number | null, now: number): ScreenRow[] => {
  const ms = askedAt === null ? 0 : now - askedAt;
  return ms < QUIET_MS ? [] : [row(tonedSpan('muted', `loading ${(ms / 1000).toFixed(1)} s`))];
};

/** Returns what failed, why, and what to do about it. */
const troubleRows = (
  { status, message, requestId }: Trouble,
  { noun, who, width }: Pick<FaceWords, 'noun' | 'who' | 'width'>,
): ScreenRow[] => {
  const request = requestId ? ` (request ${requestId})` : '';
  const said = `Could not load the ${noun}: ${status === 0 ? '' : `${status}, `}${message}${request}`;
  const lines = wrapped(clean(said), width);
  return [...lines.map((line) => row(tonedSpan('danger', line))), row(remedy(status, who))];
};

const remedy = (status: number, who: FaceWords['who']): string => {
  if (status === 0) return 'On this machine: adjutant up     ctrl-r tries again';
  if (status === 401) return 'Your session has ended.   enter logs in again';
  if (status === 403) {
    const you = who ? `You are ${who.username} (${who.role}). ` : '';
    return `${you}Ask an admin.   ctrl-r again`;
  }
  if (status === 404) return 'It is gone, or was never yours.   esc back';
  return 'ctrl-r tries again; the reason is in the log: adjutant logs';
};
