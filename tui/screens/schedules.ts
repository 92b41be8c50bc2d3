import { isRecord } from '../../src/client/index.js';
import { fieldText } from '../parts/orgs.js';
import {
  column,
  numberColumn,
  type ScreenColumn,
  stateColumn,
  uncutColumn,
} from '../parts/table.js';
import { inlineValue } from '../parts/text.js';
import { formatAge } from '../parts/times.js';
import { dayTime, isLocalClock, shortZone } from '../parts/zones.js';
import { type Act, actTarget, reportDone } from '../state/act.js';
import type { BrowsedRow } from '../state/resources.js';
import type { State } from '../state/state.js';

const toTextOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const getSchedule = ({ fields: { schedule } }: BrowsedRow): Record<string, unknown> =>
  isRecord(schedule) ? schedule : {};

const getScheduleRule = (thing: BrowsedRow): string => {
  const { cron, rrule } = getSchedule(thing);
  return toTextOrNull(cron) ?? toTextOrNull(rrule) ?? '';
};

const getTimeZone = (thing: BrowsedRow): string =>
  toTextOrNull(getSchedule(thing).timezone) ?? 'UTC';

/** Time on the clock of the schedule. The zone is named if its clock differs from the local one. */
const formatScheduleTime = (thing: BrowsedRow, time: unknown, now: number): string => {
  if (typeof time !== 'string') return '';
  const zone = getTimeZone(thing);
  const text = dayTime(time, zone, now);
  const at = Date.parse(time);
  return isLocalClock(zone, at) ? text : `${text} ${shortZone(zone, at)}`;
};

/** `enabled`, `disabled`, or `failing` after an error. */
const recurringState = ({ fields: { enabled, lastStatus } }: BrowsedRow): string => {
  if (enabled !== true) return 'disabled';
  return lastStatus === 'error' ? 'failing' : 'enabled';
};

export const recurringColumns = ({
  lists,
  session: { now },
}: State): ScreenColumn<BrowsedRow>[] => [
  column('NAME', [8, 60, 0], ({ name }) => name),
  stateColumn('STATE', [8, 10, 0], (thing) => lists.things.busy[thing.id] ?? recurringState(thing)),
  column('SCHEDULE', [11, 40, 2], getScheduleRule),
  uncutColumn(
    column('NEXT', [5, 28, 1], (thing) => formatScheduleTime(thing, thing.fields.nextRunAt, now)),
  ),
  column('LAST', [5, 6, 2], ({ fields: { lastRunAt } }) => formatAge(toTextOrNull(lastRunAt), now)),
  numberColumn('RUNS', [4, 8, 3], ({ fields: { runCount } }) => inlineValue(runCount)),
];

/** Fields that the facts or the head already show. */
const FIELDS_SHOWN_ELSEWHERE = [
  'title',
  'schedule',
  'enabled',
  'actionConfig',
  'nextRunAt',
  'lastRunAt',
  'runCount',
];
const TIMES = ['createdAt', 'updatedAt', 'endsAt'];

export const recurringFacts = (state: State, thing: BrowsedRow): [string, string][] => {
  const { now } = state.session;
  const { fields } = thing;
  const { actionConfig, nextRunAt, lastRunAt, runCount } = fields;
  const config = Object.entries(isRecord(actionConfig) ? actionConfig : {});
  const others = Object.entries(fields).filter(
    ([key, value]) => !FIELDS_SHOWN_ELSEWHERE.includes(key) && value !== null,
  );
  const last = formatScheduleTime(thing, lastRunAt, now);
  return [
    ['state', recurringState(thing)],
    ['schedule', `${getScheduleRule(thing)} (${getTimeZone(thing)})`],
    ['next', formatScheduleTime(thing, nextRunAt, now) || 'never'],
    ['last', last || 'never'],
    ['runs', inlineValue(runCount)],
    ...others.map(([key, value]): [string, string] => [
      key,
      TIMES.includes(key) ? formatScheduleTime(thing, value, now) : fieldText(state, key, value),
    ]),
    ...config.map(([key, value]): [string, string] => [key, inlineValue(value)]),
  ];
};

export const switchRecurring = ({ id, name, fields }: BrowsedRow): Act => {
  const enabled = fields.enabled !== true;
  const verb = enabled ? 'enable' : 'disable';
  return {
    ...actTarget('things', id),
    text: `${verb} ${name}`,
    line: `adjutant recurring ${verb} ${id}`,
    doing: enabled ? 'enabling…' : 'disabling…',
    call: ({ recurring }) =>
      reportDone(recurring.update({ id, body: { enabled } }), `${name} is ${verb}d`),
  };
};
