import { formatNoticeHeadline, type Notification } from '../../src/client/index.js';
import type { ScreenPage } from '../page.js';
import { row, tonedSpan } from '../parts/row.js';
import { column, stateColumn } from '../parts/table.js';
import { textRows } from '../parts/text.js';
import { timeOfEvent } from '../parts/times.js';
import { actTarget, reportDone } from '../state/act.js';
import { listRows } from '../state/lists.js';
import {
  agentTarget,
  executionTarget,
  hookTarget,
  type JumpTarget,
  reportPlace,
  rowTarget,
  runTarget,
  type ScreenPlace,
  taskTarget,
} from '../state/locations.js';
import { listPage } from './list.js';

/** The socket reports new notifications. This interval is for those read or deleted elsewhere. */
const EVERY_MS = 5000;

const unread = (rows: Notification[]): number =>
  rows.filter(({ readAt }) => readAt === null).length;
const formatReadState = ({ readAt }: Notification): string => (readAt === null ? 'new' : 'read');

/**
 * Subject of a notification, from its link. `null` if the desk has no page for it. A link is a path
 * of the web page, or of the API if the page has none; older notifications have API paths.
 */
export const noticeTarget = ({
  link,
}: Pick<Notification, 'link'>): JumpTarget | ScreenPlace | null => {
  const [resource, id, below, belowId] = (link ?? '').replace(/^\/(api\/)?/, '').split('/');
  if (resource?.startsWith('approvals')) return rowTarget('approvals', id ?? '');
  if (resource === 'tasks?due=overdue') return rowTarget('tasks', '');
  if (id === undefined) return null;
  if (resource === 'executions') return executionTarget(id);
  if (resource === 'agents') return agentTarget(id);
  if (resource === 'tasks') return taskTarget(id);
  if (resource === 'pipelines') return runTarget(id.split('#')[0] ?? id);
  if (resource === 'vault') return rowTarget('vault', id);
  if (resource === 'research' && below !== undefined) return reportPlace(below);
  if (resource === 'chat' && id.startsWith('approvals')) return rowTarget('approvals', below ?? '');
  return resource === 'hooks' ? hookTarget(id, belowId || null) : null;
};

export const inboxPage: ScreenPage = listPage<Notification>({
  name: 'inbox',
  title: 'Inbox',
  noun: 'notification',
  list: 'notifications',
  rows: ({ lists }) => listRows(lists.notifications),
  item: (notice) => ({
    id: notice.id,
    name: notice.title,
    words: `${formatReadState(notice)} ${notice.kind} ${notice.body.slice(0, 1000)}`,
    facts: { status: formatReadState(notice), kind: notice.kind },
  }),
  columns: ({ session, lists: { notifications } }) => [
    stateColumn('STATE', [5, 8, 0], (each) => notifications.busy[each.id] ?? formatReadState(each)),
    column('TIME', [8, 19, 2], ({ createdAt }) => timeOfEvent(createdAt, session.now)),
    column('KIND', [8, 20, 3], ({ kind }) => kind.replaceAll('_', ' ')),
    column('WHAT', [12, 200, 0], formatNoticeHeadline),
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
      ...actTarget('notifications', id),
      text: `Mark read: ${title}`,
      line: `adjutant notifications read ${id}`,
      doing: 'marking…',
      call: ({ notifications }) => reportDone(notifications.read({ id }), 'Read'),
    },
    'mark-all': unread(listRows(lists.notifications)) > 0 && {
      ...actTarget('notifications', id),
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
  opens: noticeTarget,
  related: noticeTarget,
});
