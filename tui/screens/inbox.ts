import { headlineOf, type Notification } from '../../src/client/index.js';
import type { ScreenPage } from '../page.js';
import { row, tonedSpan } from '../parts/row.js';
import { column, stateColumn } from '../parts/table.js';
import { textRows } from '../parts/text.js';
import { timeOfEvent } from '../parts/times.js';
import { done, onRow } from '../state/act.js';
import { rowsOf } from '../state/lists.js';
import {
  agentGoal,
  executionGoal,
  hookGoal,
  type JumpTarget,
  reportPlace,
  rowGoal,
  runJump,
  type ScreenPlace,
  taskJump,
} from '../state/places.js';
import { listPage } from './list.js';

/** The socket reports new notifications. This interval is for those read or deleted elsewhere. */
const EVERY_MS = 5000;

const unread = (rows: Notification[]): number =>
  rows.filter(({ readAt }) => readAt === null).length;
const stateOf = ({ readAt }: Notification): string => (readAt === null ? 'new' : 'read');

/**
 * Subject of a notification, from its link. `null` if the desk has no page for it. A link is a path
 * of the web page, or of the API if the page has none; older notifications have API paths.
 */
export const noticeGoal = ({
  link,
}: Pick<Notification, 'link'>): JumpTarget | ScreenPlace | null => {
  const [resource, id, below, belowId] = (link ?? '').replace(/^\/(api\/)?/, '').split('/');
  if (resource?.startsWith('approvals')) return rowGoal('approvals', id ?? '');
  if (resource === 'tasks?due=overdue') return rowGoal('tasks', '');
  if (id === undefined) return null;
  if (resource === 'executions') return executionGoal(id);
  if (resource === 'agents') return agentGoal(id);
  if (resource === 'tasks') return taskJump(id);
  if (resource === 'pipelines') return runJump(id.split('#')[0] ?? id);
  if (resource === 'vault') return rowGoal('vault', id);
  if (resource === 'research' && below !== undefined) return reportPlace(below);
  if (resource === 'chat' && id.startsWith('approvals')) return rowGoal('approvals', below ?? '');
  return resource === 'hooks' ? hookGoal(id, belowId || null) : null;
};

export const inboxPage: ScreenPage = listPage<Notification>({
  name: 'inbox',
  title: 'Inbox',
  noun: 'notification',
  list: 'notifications',
  rows: ({ lists }) => rowsOf(lists.notifications),
  item: (notice) => ({
    id: notice.id,
    name: notice.title,
    words: `${stateOf(notice)} ${notice.kind} ${notice.body.slice(0, 1000)}`,
    facts: { status: stateOf(notice), kind: notice.kind },
  }),
  columns: ({ session, lists: { notifications } }) => [
    stateColumn('STATE', [5, 8, 0], (each) => notifications.busy[each.id] ?? stateOf(each)),
    column('TIME', [8, 19, 2], ({ createdAt }) => timeOfEvent(createdAt, session.now)),
    column('KIND', [8, 20, 3], ({ kind }) => kind.replaceAll('_', ' ')),
    column('WHAT', [12, 200, 0], headlineOf),
  ],
  detail: ({ session }, { title, kind, createdAt, body }, width) => [
    row(tonedSpan('strong', title)),
    row(tonedSpan('muted', `${kind}   ${timeOfEvent(createdAt, session.now)}`)),
    [],
    ...textRows(body, width, true),
  ],
  empty: ['No notifications yet.', 'Notifications from hooks and agents appear here.'],
  needs: () => [
    { is: 'list', list: 'notifications', everyMs: EVERY_MS },
    { is: 'channel', channel: 'notification' },
  ],
  summary: (_, rows) => `${unread(rows)} unread of ${rows.length} loaded`,
  acts: ({ id, title, readAt }, { lists }) => ({
    mark: readAt === null && {
      ...onRow('notifications', id),
      text: `Mark read: ${title}`,
      line: `adjutant notifications read ${id}`,
      doing: 'marking…',
      call: ({ notifications }) => done(notifications.read({ id }), 'Read'),
    },
    'mark-all': unread(rowsOf(lists.notifications)) > 0 && {
      ...onRow('notifications', id),
      text: 'Mark all as read',
      line: 'adjutant notifications read-all',
      doing: 'marking…',
      ask: { lines: ['Mark all your notifications as read, including those not loaded?'] },
      call: async ({ notifications }) => {
        const { read } = await notifications['read-all']();
        return `${read} marked as read`;
      },
    },
  }),
  opens: noticeGoal,
  related: noticeGoal,
});
