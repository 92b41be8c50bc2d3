import type { ScreenPage } from '../page.js';
import { fieldText, orgColumns } from '../parts/orgs.js';
import { row, type ScreenRow, tonedSpan } from '../parts/row.js';
import { column, numberColumn, type ScreenColumn, stateColumn } from '../parts/table.js';
import { countedNoun, factRows, inlineValue, jsonRows } from '../parts/text.js';
import { formatAge } from '../parts/times.js';
import { type Act, actTarget, confirmationText, reportDone } from '../state/act.js';
import { listRows } from '../state/lists.js';
import { documentPlace, reportPlace, type ScreenPlace } from '../state/locations.js';
import {
  type BrowsedRow,
  callResourceVerb,
  isBrowsedResource,
  type ResourceVerb,
} from '../state/resources.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';
import { listPage } from './list.js';
import { recurringColumns, recurringFacts, switchRecurring } from './schedules.js';

/**
 * Browser of any resource, built from its contract: a list, the fields of one row, and its verbs in
 * the palette.
 */

const EVERY_MS = 15_000;
const STATES = ['status', 'state', 'enabled', 'verified', 'channel', 'type', 'role'];

const getBrowsedResource = ({ ui }: State): string => topView(ui).of ?? '';

const isRecurring = (state: State): boolean => getBrowsedResource(state) === 'recurring';

const formatRowState = ({ fields }: BrowsedRow): string => {
  const key = STATES.find((each) => fields[each] !== undefined && fields[each] !== null);
  if (key === undefined) return '';
  const value = fields[key];
  if (typeof value !== 'boolean') return inlineValue(value);
  return value ? key : `not ${key}`;
};

const detailRows = (state: State, thing: BrowsedRow, width: number): ScreenRow[] => {
  const { isRaw, isWrapped } = topView(state.ui);
  const { fields, name } = thing;
  if (isRaw) return jsonRows(fields, width, isWrapped);
  if (isRecurring(state)) {
    return [row(tonedSpan('strong', name)), ...factRows(recurringFacts(state, thing), width)];
  }
  const facts = Object.entries(fields).map(([key, value]): [string, string] => [
    key,
    fieldText(state, key, value),
  ]);
  return [row(tonedSpan('strong', name)), ...factRows(facts, width)];
};

const createVerbAct = (resource: string, thing: BrowsedRow, verb: ResourceVerb): Act | null => {
  if (!isBrowsedResource(resource)) return null;
  return {
    text: `${verb.name} ${thing.name}`,
    line: `adjutant ${resource} ${verb.name} ${thing.id}`,
    doing: `${verb.name}…`,
    ...actTarget('things', thing.id),
    ask: {
      lines: [`${verb.summary}: ${thing.name}?`],
      ...(verb.isDelete && { name: confirmationText(thing.name, thing.id) }),
    },
    call: (client) =>
      reportDone(
        callResourceVerb(client, resource, { name: verb.name, id: thing.id }),
        `${thing.name}: ${verb.name} done`,
      ),
  };
};

/**
 * Interactive commands that create a row of a resource, and the resources with an `update` command.
 */
const MAKES: Record<string, readonly string[]> = {
  webhooks: ['webhooks', 'create'],
  channels: ['channels', 'link'],
  experts: ['experts', 'create'],
  recurring: ['recurring', 'create'],
};
const CHANGED = ['webhooks', 'experts', 'recurring'];

const findDetailPage = (resource: string, { id }: BrowsedRow): ScreenPlace | null => {
  if (resource === 'documents') return documentPlace(id, 1);
  return resource === 'research' ? reportPlace(id) : null;
};

/** An object that ships with the daemon cannot be changed. */
const isOwn = ({ fields }: BrowsedRow): boolean =>
  fields.source === undefined || fields.source === 'custom';

const thingColumns = (state: State): ScreenColumn<BrowsedRow>[] => {
  const {
    lists,
    session: { now },
  } = state;
  return [
    column('NAME', [14, 60, 0], ({ name }) => name),
    stateColumn(
      'STATE',
      [8, 16, 1],
      (thing) => lists.things.busy[thing.id] ?? formatRowState(thing),
    ),
    numberColumn('AGE', [4, 6, 2], ({ fields: { createdAt } }) =>
      typeof createdAt === 'string' ? formatAge(createdAt, now) : '',
    ),
    column('ID', [12, 50, 3], ({ id }) => id),
    ...orgColumns<BrowsedRow>(
      state,
      listRows(state.lists.things).map(({ fields }) => fields.orgId),
      ({ fields }) => fields.orgId,
    ),
  ];
};

export const browsePage: ScreenPage = listPage<BrowsedRow>({
  name: 'browse',
  title: 'Browser',
  noun: 'row',
  list: 'things',
  isWide: isRecurring,
  rows: ({ lists }) => listRows(lists.things),
  item: (thing) => ({
    id: thing.id,
    name: thing.name,
    words: `${thing.id} ${formatRowState(thing)}`,
    facts: { status: formatRowState(thing) },
  }),
  columns: (state) => (isRecurring(state) ? recurringColumns(state) : thingColumns(state)),
  detail: detailRows,
  empty: (state) => {
    const make = MAKES[getBrowsedResource(state)];
    return ['No entries.', ...(make ? [`  a  create one     adjutant ${make.join(' ')}`] : [])];
  },
  opens: (thing, state) => findDetailPage(getBrowsedResource(state), thing),
  leaves: (thing, state) => {
    const resource = getBrowsedResource(state);
    const isChanged = thing !== null && CHANGED.includes(resource) && isOwn(thing);
    return { add: MAKES[resource] ?? null, edit: isChanged && [resource, 'update', thing.id] };
  },
  verbs: (thing, state) => [
    ...(isRecurring(state) ? [switchRecurring(thing)] : []),
    ...thing.verbs.flatMap((verb) => createVerbAct(getBrowsedResource(state), thing, verb) ?? []),
  ],
  summary: (state, rows) =>
    `${getBrowsedResource(state)}: ${countedNoun(rows.length, 'row')}   (: verbs, tab fields, v raw)`,
  needs: (state) => [
    { is: 'list', list: 'things', of: getBrowsedResource(state), everyMs: EVERY_MS },
  ],
});
