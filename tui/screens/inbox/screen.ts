import type { Notification } from '../../../src/client/index.js';
import type { ActVerb } from '../../keys.js';
import type { ScreenPage } from '../../page.js';
import { row, tonedSpan } from '../../parts/row.js';
import { textRows } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import type { Act } from '../../state/act.js';
import type { State } from '../../state/state.js';
import { listingScreen } from '../list.js';
import { markAll, markRead, noticeGoal } from './slice.js';

const EVERY_MS = 5000;

const unread = (rows: Notification[]): number =>
  rows.filter(({ readAt }) => readAt === null).length;
const stateOf = ({ readAt }: Notification): string => (readAt === null ? 'new' : 'read');

const { page, chosen } = listingScreen<Notification>({
  name: 'inbox',
  root: 'inbox',
  title: 'Inbox',
  noun: 'notification',
  list: 'notifications',
  select: ({ lists }) => lists.notifications,
  item: (told) => ({
    id: told.id,
    name: told.title,
    words: `${stateOf(told)} ${told.kind} ${told.body.slice(0, 1000)}`,
    facts: { status: stateOf(told), kind: told.kind },
  }),
  columns: ({ session, lists }) => [
    {
      head: 'STATE',
      text: (told) => lists.notifications.busy[told.id] ?? stateOf(told),
      isState: true,
      least: 5,
      most: 8,
      rank: 0,
    },
    {
      head: 'TIME',
      text: ({ createdAt }) => timeOfEvent(createdAt, session.now),
      least: 8,
      most: 19,
      rank: 2,
    },
    {
      head: 'KIND',
      text: ({ kind }) => kind.replaceAll('_', ' '),
      least: 8,
      most: 20,
      rank: 3,
    },
    { head: 'WHAT', text: ({ title }) => title, least: 12, most: 200, rank: 0 },
  ],
  detail: ({ session }, told, width) => [
    row(tonedSpan('strong', told.title)),
    row(tonedSpan('muted', `${told.kind}   ${timeOfEvent(told.createdAt, session.now)}`)),
    [],
    ...textRows(told.body, width, true),
  ],
  empty: ['Nothing was told to you yet.', 'What hooks and agents tell you is kept here.'],
  everyMs: EVERY_MS,
  summary: (_, rows) => `${unread(rows)} unread of ${rows.length} loaded`,
});

const acts = (state: State): Partial<Record<ActVerb, Act>> => {
  const told = chosen(state);
  if (!told) return {};
  const { notifications } = state.lists;
  const count = notifications.order.filter((id) => notifications.byId[id]?.readAt === null).length;
  return {
    ...(told.readAt === null && { mark: markRead(told) }),
    ...(count > 0 && { 'mark-all': markAll(told) }),
  };
};

const goal = (state: State) => {
  const told = chosen(state);
  return told && noticeGoal(told);
};

export const inboxPage: ScreenPage = { ...page, acts, opens: goal, related: goal };
