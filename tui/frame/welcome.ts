import { row, type ScreenRow, tonedSpan } from '../parts/row.js';
import { getLoginName } from '../state/session.js';
import type { State } from '../state/state.js';

/** True if no login was ever stored here, so that no screen has data to show. */
export const isFirstVisit = ({ session }: State): boolean =>
  session.link.is === 'refused' && getLoginName(session) === null;

export const welcomeView = (): ScreenRow[] => [
  row(tonedSpan('strong', 'You are not logged in.')),
  [],
  ...ways().map(([when, how, what]) =>
    row(when.padEnd(22), tonedSpan('strong', how.padEnd(22)), tonedSpan('muted', what)),
  ),
];

const ways = (): [string, string, string][] => [
  ['First start', 'adjutant quickstart', 'creates an account, a model and a hook'],
  ['You have an account', 'enter', 'asks for your username'],
  ['You were invited', 'adjutant register', '--invite-file -'],
  ['Another daemon', 'adjutant tui --server …', ''],
];
