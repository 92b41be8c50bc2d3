import { wrapped } from '../../cli/text.js';
import type { ModelView } from '../../src/client/index.js';
import type { Acts, ScreenPage } from '../page.js';
import { orgColumns, orgFacts } from '../parts/orgs.js';
import { boundedText, row, type ScreenRow, type Span, tonedSpan } from '../parts/row.js';
import { column, numberColumn, stateColumn } from '../parts/table.js';
import { factRows } from '../parts/text.js';
import { formatAge, formatTimeLeft, timeOfEvent } from '../parts/times.js';
import { type Act, actTarget, reportDone } from '../state/act.js';
import { listRows } from '../state/lists.js';
import type { CliToolItem } from '../state/rows.js';
import type { State } from '../state/state.js';
import { listPage, possibleActs } from './list.js';

const EVERY_MS = 15_000;
/** Interval in milliseconds. The daemon checks the tools no more often. */
const TOOLS_MS = 60_000;
const LABEL = 10;

const formatModelHealth = ({ health, enabled }: ModelView): string => {
  if (!enabled) return 'disabled';
  return ['down', 'cooling'].includes(health.status) ? health.status.toUpperCase() : health.status;
};

const listModelFacts = (state: State, of: ModelView): [string, string][] => {
  const { now } = state.session;
  return [
    ['Model', `${of.name}   ${of.provider}/${of.modelId}`],
    ...orgFacts(state, of),
    ...(of.baseUrl === null ? [] : [['Address', of.baseUrl] satisfies [string, string]]),
    [
      'Checked',
      of.health.checkedAt === null ? 'never' : `${formatAge(of.health.checkedAt, now)} ago`,
    ],
    ...(of.health.retryAt === null
      ? []
      : [['Retry in', formatTimeLeft(of.health.retryAt, now)] satisfies [string, string]]),
    ['Fallback', of.fallbacks.join(' → ') || 'none of its own'],
    ...(of.health.lastError === null
      ? []
      : [['Error', of.health.lastError] satisfies [string, string]]),
  ];
};

/** Models of each topic, in the order in which they are tried. */
const routeRows = ({ lists }: State): ScreenRow[] => {
  const routes = listRows(lists.routes);
  const wide = Math.max(0, ...routes.map(({ topic }) => topic.length)) + 2;
  return routes.map(({ topic, models }, at) =>
    row(
      tonedSpan('muted', (at === 0 ? 'Routing' : '').padEnd(LABEL)),
      topic.padEnd(wide),
      models.join(' → '),
    ),
  );
};

/** Status of each CLI tool that can be a model. Tools that are not installed share one line. */
const toolRows = ({ lists, session: { now } }: State, width: number): ScreenRow[] => {
  const tools = listRows(lists.clitools);
  const absent = tools.filter(({ path }) => path === null).map(({ name }) => name);
  const present = tools.filter(({ path }) => path !== null);
  return [
    ...present.map((tool) => tonedSpan(isInNeed(tool) ? 'warn' : undefined, toolText(tool, now))),
    ...(absent.length > 0 ? [tonedSpan('muted', `not installed: ${absent.join(', ')}`)] : []),
  ]
    .flatMap(({ tone, text }) =>
      wrapped(boundedText(text), Math.max(8, width - LABEL)).map((line) => tonedSpan(tone, line)),
    )
    .map((line, at) => row(labelled(at), line));
};

const labelled = (at: number): Span => tonedSpan('muted', (at === 0 ? 'CLI' : '').padEnd(LABEL));

const isInNeed = ({ isRunnable, isLoggedIn, quota }: CliToolItem): boolean =>
  !isRunnable || !isLoggedIn || quota?.exhausted === true;

/** `claude 2.1 logged in, 38 of 100 until 17:00:00`. */
const toolText = (tool: CliToolItem, now: number): string => {
  const { name, version, isRunnable, isLoggedIn } = tool;
  const title = [name, version].filter(Boolean).join(' ');
  if (!isRunnable) return `${title} does not run confined`;
  if (!isLoggedIn) return `${title} not logged in: adjutant models cli login ${name}`;
  return [`${title} logged in`, formatQuota(tool, now)].filter(Boolean).join(', ');
};

const formatQuota = ({ quota }: CliToolItem, now: number): string => {
  if (!quota) return '';
  const { used, limit, exhausted, resetsAt } = quota;
  const until = resetsAt === null ? '' : ` until ${timeOfEvent(resetsAt, now)}`;
  if (exhausted) return `used up${until}`;
  if (used === null || limit === null) return '';
  // If the limit is 1, the quota is a fraction.
  const amount = limit === 1 ? `${Math.round(used * 100)} %` : `${used} of ${limit}`;
  return `${amount}${until}`;
};

export const modelActs = ({ name, isDefault, orgId }: ModelView): Acts =>
  possibleActs<Act>({
    test: {
      ...actTarget('models', name, 'routes'),
      text: `Test model ${name}`,
      line: `adjutant models test ${name}`,
      doing: 'testing…',
      call: async ({ models }) => {
        const { ok, latencyMs, error } = await models.check({ name });
        if (ok) return `${name} answered in ${latencyMs} ms`;
        return {
          message: `${name} does not answer: ${error ?? 'unknown reason'}`,
          tone: 'danger',
        };
      },
    },
    use: !isDefault &&
      orgId === null && {
        ...actTarget('models', name, 'routes'),
        text: `Use model ${name} as the default`,
        line: `adjutant models default ${name}`,
        doing: 'setting…',
        ask: { lines: [`Use ${name} for all users when no model is named or routed?`] },
        call: ({ models }) => reportDone(models.default({ name }), `${name} is now the default`),
      },
  });

export const modelsPage: ScreenPage = listPage<ModelView>({
  name: 'models',
  title: 'Models',
  noun: 'model',
  list: 'models',
  rows: ({ lists }) => listRows(lists.models),
  item: (model) => ({
    id: model.name,
    name: model.name,
    words: `${model.provider} ${formatModelHealth(model)} ${model.topics.join(' ')}`,
    facts: { status: model.health.status, provider: model.provider },
  }),
  columns: (state) => [
    column('NAME', [12, 40, 0], ({ name }) => name),
    stateColumn(
      'STATE',
      [8, 10, 0],
      (model) => state.lists.models.busy[model.name] ?? formatModelHealth(model),
    ),
    column('PROVIDER', [8, 18, 2], ({ provider }) => provider),
    numberColumn('LATENCY', [7, 9, 3], ({ health: { latencyMs } }) =>
      latencyMs === null ? '-' : `${latencyMs} ms`,
    ),
    column('TOPICS', [8, 80, 1], ({ isDefault, topics }) =>
      [isDefault ? 'default' : '', ...topics].join(' ').trim(),
    ),
    ...orgColumns<ModelView>(
      state,
      listRows(state.lists.models).map(({ orgId }) => orgId),
      ({ orgId }) => orgId,
    ),
  ],
  detail: (state, model, width) => [
    ...factRows(listModelFacts(state, model), width),
    [],
    ...routeRows(state),
    ...toolRows(state, width),
  ],
  empty: ['No models yet.', '  a  add one      adjutant models create'],
  needs: () => [
    { is: 'list', list: 'models', everyMs: EVERY_MS },
    { is: 'list', list: 'routes', everyMs: EVERY_MS },
    { is: 'list', list: 'clitools', everyMs: TOOLS_MS },
  ],
  acts: modelActs,
  leaves: (model) => ({
    add: ['models', 'create'],
    edit: model && ['models', 'update', model.name],
  }),
  glossary: [
    ['cooling', 'the model failed recently and is skipped for a while'],
    ['digest', 'built in: used when no other model answers'],
  ],
});
