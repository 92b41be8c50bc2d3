import { type Job, type JobHandler, type Queue, removeJob } from '../jobs/module.js';
import type { Clock } from '../kernel/clock.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { ChannelRow } from '../store/tables/channels.js';
import type { NotificationRow } from '../store/tables/notifications.js';
import { visibleTo } from '../store/visible.js';
import { addOutboundMessage, getMessageLane, type NewOutboundMessage } from './messages.js';

/** Channels that get the notification now, and statements that hold it for later. */
export type Policy = (
  notice: NotificationRow,
  channels: ChannelRow[],
) => Promise<{ now: ChannelRow[]; held: Statement[] }>;

export interface FanoutDeps {
  store: Store;
  clock: Clock;
  queue: Pick<Queue, 'added'>;
  policy: Policy;
}

export const createNoticeFanout = (deps: FanoutDeps): JobHandler => ({
  run: async (job) => {
    const { store } = deps;
    const notice = await findNotice(store, job.ref);
    const channels = notice ? await loadVerifiedChannels(store, notice.user_id) : [];
    if (!notice || channels.length === 0) {
      await store.transact([removeJob(store, job.id)]);
      return null;
    }
    const isDirect = notice.direct === 1;
    const { now, held } = isDirect
      ? { now: channels, held: [] }
      : await deps.policy(notice, channels);
    const { id: causeId, user_id: userId, kind, title, body, markdown, link, hops } = notice;
    const content = { title, body, link, ...(markdown !== null && { markdown }) };
    const messages = now.map(({ id: channelId }): NewOutboundMessage => {
      return { userId, target: { channelId }, causeId, kind, content, hops };
    });
    await fanOut(deps, job, messages, held);
    return null;
  },
  abandon: async (job) => {
    await deps.store.transact([removeJob(deps.store, job.id)]);
  },
});

/** Ends the job in one transaction with its messages and held notifications. */
export const fanOut = async (
  deps: { store: Store; clock: Clock; queue: Pick<Queue, 'added'> },
  job: Job,
  messages: NewOutboundMessage[],
  heldItems: Statement[] = [],
): Promise<void> => {
  const { store, queue } = deps;
  const added = messages.flatMap((message) => addOutboundMessage(deps, message));
  await store.transact([...added, ...heldItems, removeJob(store, job.id)]);
  for (const message of messages) {
    if (message.error === undefined) queue.added(getMessageLane(message));
  }
};

/** null if the notification is gone or its owner is disabled. */
const findNotice = async ({ db }: Store, id: string): Promise<NotificationRow | null> => {
  const row = await db
    .selectFrom('notifications as n')
    .innerJoin('users as u', 'u.id', 'n.user_id')
    .select(['n.id', 'n.user_id', 'n.kind', 'n.title', 'n.body', 'n.markdown'])
    .select(['n.link', 'n.effect_id'])
    .select(['n.direct', 'n.about', 'n.hops', 'n.read_at', 'n.created_at'])
    .where('n.id', '=', id)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
};

export const loadVerifiedChannels = ({ db }: Store, userId: string): Promise<ChannelRow[]> =>
  db
    .selectFrom('channels')
    .select(['id', 'user_id', 'kind', 'sender_id', 'sender_name', 'verified_at', 'created_at'])
    .where(visibleTo(userId))
    .where('verified_at', 'is not', null)
    .orderBy('id')
    .execute();
