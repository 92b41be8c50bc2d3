import { contracts, type ModelView, type Reply } from '../../src/client/index.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { crud } from '../crud.js';
import { ago, duration } from '../times.js';

export const modelColumns: TableColumn<ModelView>[] = [
  ...fieldColumns('name', 'provider'),
  { name: 'state', value: (model) => stateOf(model), isState: true },
  { ...shownAs('latency', ({ health }) => health.latencyMs, duration), isNumber: true },
  { name: 'topics', value: (model) => topicsOf(model) },
  { name: 'price', value: (model) => priceOf(model) },
  { name: 'model', value: (model) => model.modelId },
  { name: 'address', value: (model) => model.baseUrl },
  { name: 'key', value: (model) => model.apiKeySet, only: 'data' },
  { name: 'default', value: (model) => model.isDefault, only: 'data' },
  { name: 'fallbacks', value: (model) => model.fallbacks.join(','), only: 'data' },
  { name: 'context', value: (model) => model.contextWindow, only: 'data' },
];

/** A model is known by its name alone. */
export const modelCrud = crud({
  noun: 'model',
  rows: 'models',
  endpoints: await contracts.models(),
  columns: modelColumns,
  named: ({ name }) => ({ id: name, name }),
  isExact: true,
});

type ModelHealthReply = Reply<'models', 'health'>['providers'][number];

export const healthColumns: TableColumn<ModelHealthReply>[] = [
  ...fieldColumns('model', 'provider'),
  { name: 'state', value: (each) => each.status, isState: true },
  { ...shownAs('latency', (each) => each.latencyMs, duration), isNumber: true },
  shownAs('checked', (each) => each.checkedAt, ago, 'never'),
  { name: 'error', value: (each) => each.lastError },
];

/** USD per million tokens, in and out. */
export const priceOf = ({ price }: Pick<ModelView, 'price'>): string =>
  price === null ? '' : `${price.inputPerMTok} / ${price.outputPerMTok}`;

const stateOf = ({ enabled, health }: ModelView): string => (enabled ? health.status : 'disabled');

const topicsOf = ({ topics, isDefault }: ModelView): string =>
  [...(isDefault ? ['default'] : []), ...topics].join(', ');
