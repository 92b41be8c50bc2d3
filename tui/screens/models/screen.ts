import type { ModelView } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { factRows } from '../../parts/text.js';
import { left, since } from '../../parts/times.js';
import { rowsOf } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { listingScreen } from '../list.js';
import { checkModelAct, makeDefault } from './slice.js';
import { LABEL, toolRows } from './tools.js';

const EVERY_MS = 15_000;
/** Interval in milliseconds: the daemon itself checks the tools no more often. */
const TOOLS_MS = 60_000;

const stateOf = ({ health, enabled }: ModelView): string => {
  if (!enabled) return 'disabled';
  return ['down', 'cooling'].includes(health.status) ? health.status.toUpperCase() : health.status;
};

const { page, chosen } = listingScreen<ModelView>({
  name: 'models',
  root: 'models',
  title: 'Models',
  noun: 'model',
  list: 'models',
  select: ({ lists }) => lists.models,
  item: (model) => ({
    id: model.name,
    name: model.name,
    words: `${model.provider} ${stateOf(model)} ${model.topics.join(' ')}`,
    facts: { status: model.health.status, provider: model.provider },
  }),
  columns: ({ lists }) => [
    { head: 'NAME', text: ({ name }) => name, least: 12, most: 40, rank: 0 },
    {
      head: 'STATE',
      text: (model) => lists.models.busy[model.name] ?? stateOf(model),
      isState: true,
      least: 8,
      most: 10,
      rank: 0,
    },
    { head: 'PROVIDER', text: ({ provider }) => provider, least: 8, most: 18, rank: 2 },
    {
      head: 'LATENCY',
      text: ({ health }) => (health.latencyMs === null ? '-' : `${health.latencyMs} ms`),
      isNumber: true,
      least: 7,
      most: 9,
      rank: 3,
    },
    {
      head: 'TOPICS',
      text: ({ isDefault, topics }) => [isDefault ? 'default' : '', ...topics].join(' ').trim(),
      least: 8,
      most: 80,
      rank: 1,
    },
  ],
  detail: (state, model, width) => [
    ...factRows(factsOf(model, state.session.now), width),
    [],
    ...routeRows(state),
    ...toolRows(state, width),
  ],
  empty: ['No models yet.', '  a  add one      adjutant models create'],
  everyMs: EVERY_MS,
});

const factsOf = (of: ModelView, now: number): [string, string][] => [
  ['Model', `${of.name}   ${of.provider}/${of.modelId}`],
  ['Address', of.baseUrl ?? 'the provider’s own'],
  ['Asked', of.health.checkedAt === null ? 'never' : `${since(of.health.checkedAt, now)} ago`],
  ...(of.health.retryAt === null
    ? []
    : [['Again in', left(of.health.retryAt, now)] satisfies [string, string]]),
  ['Then', of.fallbacks.join(' → ') || 'no fallback of its own'],
  ...(of.health.lastError === null
    ? []
    : [['Error', of.health.lastError] satisfies [string, string]]),
];

/** Returns the models of each topic, in the order in which they are tried. */
const routeRows = ({ lists }: State): ScreenRow[] => {
  const routes = rowsOf(lists.routes);
  const wide = Math.max(0, ...routes.map(({ topic }) => topic.length)) + 2;
  return routes.map(({ topic, models }, at) =>
    row(
      tonedSpan('muted', (at === 0 ? 'Routing' : '').padEnd(LABEL)),
      topic.padEnd(wide),
      models.join(' → '),
    ),
  );
};

export const modelsPage: ScreenPage = {
  ...page,
  needs: (state) => [
    ...page.needs(state),
    { is: 'list', list: 'routes', everyMs: EVERY_MS },
    { is: 'list', list: 'clitools', everyMs: TOOLS_MS },
  ],
  acts: (state) => {
    const model = chosen(state);
    if (!model) return {};
    return { test: checkModelAct(model), ...(!model.isDefault && { use: makeDefault(model) }) };
  },
  leaves: (state) => {
    const model = chosen(state);
    return {
      add: ['models', 'create'],
      ...(model && { edit: ['models', 'update', model.name] }),
    };
  },
  glossary: [
    ['cooling', 'it failed just now, and is not asked for a while'],
    ['digest', 'built in: answers where no other model does'],
  ],
};
