import type { ScreenPage } from '../../page.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { factRows, jsonRows } from '../../parts/text.js';
import { since } from '../../parts/times.js';
import { counted } from '../../parts/words.js';
import type { Act } from '../../state/act.js';
import type { State } from '../../state/state.js';
import { actOnThing, isBrowsed, type Thing, type ThingVerb } from '../../state/things.js';
import { lookOf } from '../../state/ui.js';
import { listingScreen } from '../list.js';

/**
 * The browser of any resource, made from its contract: a list, the fields of one row, and its verbs
 * in the palette.
 */

const EVERY_MS = 15_000;
const STATES = ['status', 'state', 'enabled', 'verified', 'channel', 'type'];

const resourceOf = ({ ui }: State): string => lookOf(ui).of ?? '';

const plain = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const stateOf = ({ fields }: Thing): string => {
  const key = STATES.find((each) => fields[each] !== undefined && fields[each] !== null);
  if (key === undefined) return '';
  const value = fields[key];
  if (typeof value !== 'boolean') return plain(value);
  return value ? key : `not ${key}`;
};

const madeAt = ({ fields }: Thing): string | null =>
  typeof fields.createdAt === 'string' ? fields.createdAt : null;

const { page, chosen } = listingScreen<Thing>({
  name: 'browse',
  root: 'overview',
  title: 'Browser',
  noun: 'row',
  list: 'things',
  select: ({ lists }) => lists.things,
  item: (thing) => ({
    id: thing.id,
    name: thing.name,
    words: `${thing.id} ${stateOf(thing)}`,
    facts: { status: stateOf(thing) },
  }),
  columns: ({ lists, session: { now } }) => [
    { head: 'NAME', text: ({ name }) => name, least: 14, most: 60, rank: 0 },
    {
      head: 'STATE',
      text: (thing) => lists.things.busy[thing.id] ?? stateOf(thing),
      isState: true,
      least: 8,
      most: 16,
      rank: 1,
    },
    {
      head: 'AGE',
      text: (thing) => (madeAt(thing) === null ? '' : since(madeAt(thing), now)),
      isNumber: true,
      least: 4,
      most: 6,
      rank: 2,
    },
    { head: 'ID', text: ({ id }) => id, least: 12, most: 50, rank: 3 },
  ],
  detail: (state, thing, width) => detailRows(state, thing, width),
  empty: ['There are none.'],
});

const detailRows = ({ ui }: State, { fields, name }: Thing, width: number): ScreenRow[] => {
  const { isRaw, isWrapped } = lookOf(ui);
  if (isRaw) return jsonRows(fields, width, isWrapped);
  const facts = Object.entries(fields).map(([key, value]): [string, string] => [key, plain(value)]);
  return [row(tonedSpan('strong', name)), ...factRows(facts, width)];
};

const actOf = (resource: string, thing: Thing, verb: ThingVerb): Act | null => {
  if (!isBrowsed(resource)) return null;
  return {
    text: `${verb.name} ${thing.name}`,
    line: `adjutant ${resource} ${verb.name} ${thing.id}`,
    doing: `${verb.name}…`,
    row: { list: 'things', id: thing.id },
    touches: ['things'],
    ask: {
      lines: [`${verb.summary}: ${thing.name}?`],
      ...(verb.isDelete && { name: thing.name }),
    },
    call: async (client) => {
      await actOnThing(client, resource, { name: verb.name, id: thing.id });
      return `${thing.name}: ${verb.name} done`;
    },
  };
};

/**
 * Commands that create a row of a resource by asking for everything they need, and the resources
 * with an `update` command.
 */
const MAKES: Record<string, readonly string[]> = {
  webhooks: ['webhooks', 'create'],
  channels: ['channels', 'link'],
  experts: ['experts', 'create'],
};
const CHANGED = ['webhooks', 'experts'];

/** True unless the thing ships with the daemon, in which case it cannot be changed. */
const isOwn = ({ fields }: Thing): boolean =>
  fields.source === undefined || fields.source === 'custom';

export const browsePage: ScreenPage = {
  ...page,
  leaves: (state) => {
    const resource = resourceOf(state);
    const thing = chosen(state);
    const add = MAKES[resource];
    const isChanged = thing !== null && CHANGED.includes(resource) && isOwn(thing);
    return {
      ...(add && { add }),
      ...(isChanged && { edit: [resource, 'update', thing.id] }),
    };
  },
  verbs: (state) => {
    const thing = chosen(state);
    if (!thing) return [];
    return thing.verbs.flatMap((verb) => actOf(resourceOf(state), thing, verb) ?? []);
  },
  summary: (state) =>
    `${resourceOf(state)}: ${counted(page.items(state).length, 'row')}   (: its verbs, tab its fields, v raw)`,
  needs: (state) => [{ is: 'list', list: 'things', of: resourceOf(state), everyMs: EVERY_MS }],
};
