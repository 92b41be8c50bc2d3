import type { Queue } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { DueSource } from '../schedule/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import type { ChannelRow } from '../store/tables/channels.js';
import type { NoticeBatchRow } from '../store/tables/preferences.js';
import { digestText, sumGroupCounts, within } from './digesttext.js';
import { loadVerifiedChannels } from './fanout.js';
import { addOutboundMessage, getMessageLane, type NewOutboundMessage } from './messages.js';
import { type BatchGroup, type NoticeBatchRows, noticeBatchRows } from './noticebatches.js';
import { isKindEnabled, type Preferences, readPreferences } from './preferences.js';
import { quietUntil } from './quiethours.js';

export interface DigestDeps {
  store: Store;
  clock: Clock;
  log: Log;
  queue: Pick<Queue, 'added'>;
}

const MINUTE_MS = 60_000;
/** Notifications sent individually at the end of quiet hours; more are combined. */
const MAX_SINGLE = 3;

/** `tick` sends what is due, including times that passed while the daemon was down. */
export const createDigests = (deps: DigestDeps): DueSource => {
  const { store, clock, log } = deps;
  const heldItems = noticeBatchRows(store);

  const failed = (err: unknown, of: object = {}): void =>
    log.error({ err, ...of }, 'could not send held notifications');

  /** A failing batch does not delay others. */
  const tick = async (): Promise<void> => {
    for (const batch of await heldItems.due(iso(clock.now()))) {
      const { user_id: userId } = batch;
      await settle(deps, heldItems, batch).catch((error) => failed(error, { userId }));
    }
  };

  return { name: 'held notifications', nextAt: heldItems.nextClose, tick };
};

const settle = async (
  deps: DigestDeps,
  heldItems: NoticeBatchRows,
  batch: NoticeBatchRow,
): Promise<void> => {
  const { store, clock } = deps;
  const preferences = await readPreferences(store, batch.user_id);
  const at = computeBatchEnd(batch, preferences, clock.now());
  if (at !== null) return heldItems.putOff(batch.id, iso(at));
  const groups = await heldItems.groups(batch.id);
  await sendDigest(deps, heldItems, { batch, groups, preferences });
};

/** By the current preferences of the owner, in milliseconds since 1970; null: ended. */
const computeBatchEnd = (
  { kind, opened_at }: NoticeBatchRow,
  { quietHours, digest }: Preferences,
  now: number,
): number | null => {
  const until = quietHours.enabled ? quietUntil(quietHours, now) : null;
  if (until !== null || kind === null || !digest.enabled) return until;
  const end = Date.parse(opened_at) + digest.windowMinutes * MINUTE_MS;
  return end > now ? end : null;
};

/** One transaction. If a notification was added meanwhile, the next tick includes it. */
const sendDigest = async (
  deps: DigestDeps,
  heldItems: NoticeBatchRows,
  waiting: WaitingBatch,
): Promise<void> => {
  const { store, queue } = deps;
  const { batch, groups } = waiting;
  const linked = groups.length > 0 ? await loadVerifiedChannels(store, batch.user_id) : [];
  const messages: NewOutboundMessage[] = [];
  for (const channel of linked) {
    messages.push(...(await messagesTo(heldItems, channel, waiting)));
  }
  const isTold = await isCommitted(
    store.transact([
      ...messages.flatMap((message) => addOutboundMessage(deps, message)),
      ...remove(store, batch, sumGroupCounts(groups)),
    ]),
  );
  if (isTold) for (const message of messages) queue.added(getMessageLane(message));
};

interface WaitingBatch {
  batch: NoticeBatchRow;
  groups: BatchGroup[];
  preferences: Preferences;
}

const messagesTo = async (
  heldItems: NoticeBatchRows,
  channel: ChannelRow,
  { batch, groups, preferences: { choices, digest } }: WaitingBatch,
): Promise<NewOutboundMessage[]> => {
  const wanted = groups.filter(({ kind }) => isKindEnabled(choices, kind, channel.id));
  const to = { userId: batch.user_id, target: { channelId: channel.id } };
  const most = batch.kind === null && !digest.enabled ? MAX_SINGLE : 1;
  if (sumGroupCounts(wanted) > most) {
    const content = digestText(wanted, digestPeriod(batch), batch.told);
    const hops = Math.max(...wanted.map((group) => group.hops));
    return [{ ...to, causeId: batch.id, kind: batch.kind ?? 'digest', content, hops }];
  }
  const kinds = wanted.map(({ kind }) => kind);
  const notices = kinds.length > 0 ? await heldItems.notices(batch.id, kinds) : [];
  return notices.map(({ id: causeId, kind, hops, ...content }) => {
    return { ...to, causeId, kind, content, hops };
  });
};

const digestPeriod = ({ kind, opened_at, closes_at }: NoticeBatchRow): string =>
  kind === null ? 'in your quiet hours' : within(Date.parse(closes_at) - Date.parse(opened_at));

const remove = ({ db }: Store, { id, told }: NoticeBatchRow, count: number): Statement[] => [
  statement(db.deleteFrom('held_notices').where('batch_id', '=', id), count),
  statement(db.deleteFrom('notice_batches').where('id', '=', id).where('told', '=', told), 1),
];
