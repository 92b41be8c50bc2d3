import type { Job, JobHandler, Queue } from '../jobs/queue.js';
import { dropJob } from '../jobs/statements.js';
import type { Clock } from '../kernel/clock.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { ChannelRow } from '../store/tables/channels.js';
import type { NotificationRow } from '../store/tables/notifications.js';
import { addSending, laneOf, type NewSending } from './messages.js';
import type { Transports } from './transport.js';

/** The decision about a notification for one of the owner's channels. */
export type Routed =
  | { verdict: 'now' }
  /**
   * The notification is sent later with others: `statements` hold it until then, committed together
   * with the fan-out.
   */
  | { verdict: 'gathered'; statements: Statement[] }
  | { verdict: 'never' };

/** Applies the owner's preferences, channel by channel; returns one decision for each. */
export type Policy = (notice: NotificationRow, channels: ChannelRow[]) => Promise<Routed[]>;

export interface FanoutDeps {
  store: Store;
  clock: Clock;
  queue: Pick<Queue, 'added'>;
  transports: Transports;
  policy: Policy;
}

/** The policy that sends to every channel at once, used if no preference applies. */
const sayNow: Policy = async (_notice, channels) =>
  channels.map(() => ({ verdict: 'now' as const }));

/**
 * Creates the job handler that turns a notification into one message for each channel that it goes
 * to.
 */
export const createNoticeFanout = (deps: FanoutDeps): JobHandler => ({
  run: async (job) => {
    const { store, transports } = deps;
    const notice = await findNotice(store, job.ref);
    const linked = notice ? await channelsOf(store, notice.user_id) : [];
    const channels = linked.filter(({ kind }) => transports.find(kind));
    if (!notice || channels.length === 0) {
      await store.transact([dropJob(store, job.id)]);
      return null;
    }
    await fanOut(deps, job, await route(deps, notice, channels));
    return null;
  },
  abandon: async (job) => {
    await deps.store.transact([dropJob(deps.store, job.id)]);
  },
});

/**
 * Ends the job in one transaction with its results: the messages, each with a job, and the
 * notifications held for later.
 */
export const fanOut = async (
  deps: Pick<FanoutDeps, 'store' | 'clock' | 'queue'>,
  job: Job,
  { sendings, kept = [] }: { sendings: NewSending[]; kept?: Statement[] },
): Promise<void> => {
  const { store, queue } = deps;
  const added = sendings.flatMap((sending) => addSending(deps, sending));
  await store.transact([...added, ...kept, dropJob(store, job.id)]);
  for (const sending of sendings) queue.added(laneOf(sending));
};

const route = async (
  { policy }: FanoutDeps,
  notice: NotificationRow,
  channels: ChannelRow[],
): Promise<{ sendings: NewSending[]; kept: Statement[] }> => {
  const isDirect = notice.direct === 1;
  const routes = await (isDirect ? sayNow : policy)(notice, channels);
  const sendings: NewSending[] = [];
  const kept: Statement[] = [];
  for (const [at, { id: channelId }] of channels.entries()) {
    const routed = routes[at] ?? { verdict: 'now' as const };
    if (routed.verdict === 'gathered') kept.push(...routed.statements);
    if (routed.verdict !== 'now') continue;
    sendings.push({
      ...{ userId: notice.user_id, target: { channelId }, causeId: notice.id, kind: notice.kind },
      content: { title: notice.title, body: notice.body, link: notice.link },
      hops: notice.hops,
    });
  }
  return { sendings, kept };
};

/** Returns null if the notification is gone, or its owner is disabled. */
const findNotice = async ({ db }: Store, id: string): Promise<NotificationRow | null> => {
  const row = await db
    .selectFrom('notifications as n')
    .innerJoin('users as u', 'u.id', 'n.user_id')
    .select(['n.id', 'n.user_id', 'n.kind', 'n.title', 'n.body', 'n.link', 'n.effect_id'])
    .select(['n.direct', 'n.about', 'n.hops', 'n.read_at', 'n.created_at'])
    .where('n.id', '=', id)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
};

/** Returns the owner's verified channels. */
export const channelsOf = ({ db }: Store, userId: string): Promise<ChannelRow[]> =>
  db
    .selectFrom('channels')
    .select(['id', 'user_id', 'kind', 'sender_id', 'sender_name', 'verified_at', 'created_at'])
    .where('user_id', '=', userId)
    .where('verified_at', 'is not', null)
    .orderBy('id')
    .execute();
