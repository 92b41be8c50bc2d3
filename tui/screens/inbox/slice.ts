import type { Notification } from '../../../src/client/index.js';
import type { Goal } from '../../page.js';
import type { Act } from '../../state/act.js';

/**
 * Returns the place of what a notification is about, from its link; null if the desk has no such
 * place.
 */
export const noticeGoal = ({ link }: Pick<Notification, 'link'>): Goal | null => {
  const [, api, resource, id, below, belowId] = (link ?? '').split('/');
  if (api !== 'api' || id === undefined) return null;
  if (resource === 'agents') {
    return { root: 'agents', places: [{ page: 'agent', id }], selected: id };
  }
  if (resource === 'vault') return { root: 'vault', places: [], selected: id };
  if (resource === 'chat' && id.startsWith('approvals')) {
    return { root: 'approvals', places: [], selected: below ?? '' };
  }
  if (resource !== 'hooks') return null;
  const hook = { page: 'hook' as const, id };
  const run = { page: 'execution' as const, id: belowId ?? null, of: id };
  return { root: 'hooks', places: below && belowId ? [hook, run] : [hook], selected: id };
};

export const markRead = ({ id, title }: Notification): Act => ({
  text: `Mark read: ${title}`,
  line: `adjutant notifications read ${id}`,
  doing: 'reading…',
  row: { list: 'notifications', id },
  touches: ['notifications'],
  call: async (client) => {
    await client.notifications.read({ id });
    return 'Read';
  },
});

export const markAll = ({ id }: Notification): Act => ({
  text: 'Mark all as read',
  line: 'adjutant notifications read-all',
  doing: 'reading…',
  row: { list: 'notifications', id },
  touches: ['notifications'],
  ask: { lines: ['Mark all of your notifications as read, those that are not loaded too?'] },
  call: async (client) => {
    const { read } = await client.notifications['read-all']();
    return `${read} marked as read`;
  },
});
