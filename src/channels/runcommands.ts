import Boom from '@hapi/boom';
import type { RecentRuns, RunBrief } from '../pipelines/module.js';
import { escapeHidden } from './calltext.js';

const MAX_LISTED_RUNS = 10;
const MIN_ID_LENGTH = 4;
/** Shown characters of a run id, as in the CLI. */
const SHOWN_ID_LENGTH = 6;
const MAX_NAME_LENGTH = 60;

export const runsText = async (runs: RecentRuns, userId: string): Promise<string> => {
  const newest = await runs.newest(userId, MAX_LISTED_RUNS);
  if (newest.length === 0) return 'No pipeline runs yet.';
  const lines = newest.map(
    (run) => `${run.id.slice(-SHOWN_ID_LENGTH)}  ${run.status}  ${formatRunName(run)}`,
  );
  return [...lines, '/stop ID stops a run. /retry ID retries a run that has ended.'].join('\n');
};

export const stopRunNamed = (runs: RecentRuns, userId: string, text: string): Promise<string> =>
  withRun(runs, userId, text, (id) => runs.stop(userId, id));

export const retryRunNamed = (runs: RecentRuns, userId: string, text: string): Promise<string> => {
  const [name = '', stage] = text.split(/\s+/);
  return withRun(runs, userId, name, (id) => runs.retry(userId, id, stage));
};

const withRun = async (
  runs: RecentRuns,
  userId: string,
  end: string,
  act: (id: string) => Promise<RunBrief>,
): Promise<string> => {
  if (end.length < MIN_ID_LENGTH)
    return 'Enter at least the last four characters of the run id. /runs lists the runs.';
  const [match, other] = await runs.endingIn(userId, end.toLowerCase());
  if (!match) return 'None of your latest runs has an id with that ending. /runs lists the runs.';
  if (other) return 'Several run ids have that ending. Enter more characters.';
  try {
    const { status } = await act(match.id);
    return `${formatRunName(match)}: ${status}`;
  } catch (error) {
    if (Boom.isBoom(error)) return `${error.message}.`;
    throw error;
  }
};

const formatRunName = ({ name }: RunBrief): string => {
  const line = escapeHidden(name).replace(/\s+/g, ' ');
  return line.length > MAX_NAME_LENGTH ? `${line.slice(0, MAX_NAME_LENGTH)}…` : line;
};
