import type { Client, Notification } from '../../src/client/index.js';
import { live } from '../../src/client/socket.js';
import { now } from '../clock.js';
import type { Context } from '../context.js';

/** News of the notifications that are followed. */
export type NoticeNote =
  /** From now on nothing is missed. */
  | { type: 'listening'; unread: number }
  | { type: 'notice'; notice: Notification }
  | { type: 'lost'; reason: string }
  | { type: 'back'; caughtUp: number };

/** More than a page of them: what the list shows again is not told again. */
const KEPT = 5000;
const PAGE = 200;

/** Every notification that comes from now on: live, and listed where the connection was lost. */
export async function* followNotices(
  context: Context,
  client: Client,
): AsyncGenerator<NoticeNote, void, undefined> {
  const { url, token, signal } = context;
  const known = new Set<string>();
  const fresh = ({ id }: Notification): boolean => {
    if (known.has(id)) return false;
    known.add(id);
    if (known.size > KEPT) known.delete(known.values().next().value ?? '');
    return true;
  };
  let state: 'begins' | 'lost' | 'listens' = 'begins';
  for await (const note of live({ url, token, signal, now, channels: ['notification'] })) {
    if (note.type === 'lost') {
      state = 'lost';
      yield note;
    } else if (note.type === 'event') {
      if (isNotice(note.data) && fresh(note.data)) yield { type: 'notice', notice: note.data };
    } else if (state === 'begins') {
      const page = await client.notifications.list({ query: { limit: PAGE } });
      for (const notice of page.notifications.reverse()) fresh(notice);
      yield { type: 'listening', unread: page.unreadCount };
      state = 'listens';
    } else {
      const missed = (await missedBy(client, known)).filter(fresh);
      yield { type: 'back', caughtUp: missed.length };
      for (const notice of missed) yield { type: 'notice', notice };
      state = 'listens';
    }
  }
}

/** Listed back to a page that shows what was told before; the oldest first. */
const missedBy = async (client: Client, known: Set<string>): Promise<Notification[]> => {
  const missed: Notification[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.notifications.list({
      query: { limit: PAGE, ...(cursor && { cursor }) },
    });
    missed.push(...page.notifications);
    cursor = page.notifications.some(({ id }) => known.has(id)) ? null : page.nextCursor;
  }
  return missed.reverse();
};

const isNotice = (data: unknown): data is Notification =>
  typeof data === 'object' && data !== null && 'id' in data && 'title' in data;
