import type { Client, PipelineRun } from '../../src/client/index.js';
import { namePages } from '../pages.js';
import type { Named, NamedKind } from '../resolve.js';

/** The number of runs below which others are looked for: each is a request. */
const MOST_ASKED = 20;
/** Ours: the number of requests at a time, all of which hear of ^C by the one signal. */
const ASKED_AT_ONCE = 4;
/** The states of runs that are under way come first: what they began is what is asked for. */
const OPEN: readonly string[] = ['waiting', 'running', 'queued'];

/** The runs of pipelines, for the words that name one of them. */
export const runKind = (client: Client): NamedKind => ({
  noun: 'pipeline',
  called: 'run',
  listed: 'pipelines list',
  page: namePages(
    'pipelines',
    (query) => client.pipelines.list({ query }),
    (run) => run,
  ),
  beyond: () => nestedRuns(client),
  hint: `Runs that a stage began are looked for below ${MOST_ASKED} others; any takes its whole id: adjutant pipelines list --parent-id <run>`,
});

/** The runs that stages have begun, which the list leaves out: level by level, below the newest. */
const nestedRuns = async (client: Client): Promise<Named[]> => {
  const found: Named[] = [];
  const { pipelines } = await client.pipelines.list({ query: { limit: 200 } });
  let asked = 0;
  for (let level = openFirst(pipelines); level.length > 0 && asked < MOST_ASKED; ) {
    const parents = level.slice(0, MOST_ASKED - asked);
    asked += parents.length;
    const below = await runsBelow(client, parents);
    found.push(...below);
    level = openFirst(below);
  }
  return found;
};

const runsBelow = async (client: Client, parents: PipelineRun[]): Promise<PipelineRun[]> => {
  const found: PipelineRun[] = [];
  for (let at = 0; at < parents.length; at += ASKED_AT_ONCE) {
    const replies = await Promise.all(
      parents
        .slice(at, at + ASKED_AT_ONCE)
        .map(({ id }) => client.pipelines.list({ query: { parentId: id, limit: 200 } })),
    );
    found.push(...replies.flatMap(({ pipelines }) => pipelines));
  }
  return found;
};

const openFirst = (runs: PipelineRun[]): PipelineRun[] => {
  const isOpen = ({ status }: PipelineRun): boolean => OPEN.includes(status);
  return [...runs.filter(isOpen), ...runs.filter((run) => !isOpen(run))];
};
