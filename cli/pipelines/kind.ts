import type { Client, PipelineRun } from '../../src/client/index.js';
import { orgSlugs } from '../orgslugs.js';
import { namePages, requestAll } from '../pages.js';
import type { Named, NamedKind } from '../resolve.js';
import { ago } from '../text.js';

/** Maximum number of runs to search for nested ones. Each takes a request. */
const MAX_SEARCHED_RUNS = 20;
/** Open runs come first, because their nested runs are most likely meant. */
const OPEN: readonly string[] = ['waiting', 'running', 'queued'];

export const runKind = (client: Client): NamedKind => ({
  noun: 'pipeline',
  called: 'run',
  listed: 'pipelines list',
  page: namePages('pipelines', (query) => client.pipelines.list({ query }), namedRun),
  beyond: () => nestedRuns(client),
  hint:
    `Nested runs are searched below ${MAX_SEARCHED_RUNS} others. Any run can be identified by ` +
    'its full id: adjutant pipelines list --parent-id <run>',
  slugs: () => orgSlugs(client),
});

/** Status and age distinguish runs of one name. */
const namedRun = ({ id, name, status, createdAt }: PipelineRun): Named => ({
  id,
  name,
  about: `${status}, ${ago(createdAt)}`,
});

/** Nested runs, which the list leaves out: level by level, below the newest. */
const nestedRuns = async (client: Client): Promise<Named[]> => {
  const found: Named[] = [];
  const { pipelines } = await client.pipelines.list({ query: { limit: 200 } });
  let requested = 0;
  for (let level = openFirst(pipelines); level.length > 0 && requested < MAX_SEARCHED_RUNS; ) {
    const parents = level.slice(0, MAX_SEARCHED_RUNS - requested);
    requested += parents.length;
    const replies = await requestAll(parents, ({ id }) =>
      client.pipelines.list({ query: { parentId: id, limit: 200 } }),
    );
    const below = replies.flatMap((reply) => reply.pipelines);
    found.push(...below.map(namedRun));
    level = openFirst(below);
  }
  return found;
};

const openFirst = (runs: PipelineRun[]): PipelineRun[] => {
  const isOpen = ({ status }: PipelineRun): boolean => OPEN.includes(status);
  return [...runs.filter(isOpen), ...runs.filter((run) => !isOpen(run))];
};
