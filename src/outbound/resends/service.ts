import type { Queue } from '../../jobs/module.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import { type Caller, CustomReply } from '../../kernel/contract/endpoint.js';
import type { Operation, OperationPreview } from '../../kernel/contract/operation.js';
import { mint } from '../../kernel/ids.js';
import {
  buildOperationPreview,
  lanesIn,
  type OperationBeginner,
  type OperationKind,
  SHOWN_ITEMS,
  type WalkCheckpoint,
  walkLanes,
} from '../../operations/module.js';
import type { Store } from '../../store/store.js';
import { requeueMessage } from '../messages.js';
import type { ResendRequest } from './contract.js';
import type { UndeliveredFilter, UndeliveredStore } from './queries.js';

interface ResendOperationDeps {
  store: Store;
  clock: Clock;
  outgoing: Pick<Queue, 'added' | 'waiting' | 'rest'>;
  undelivered: UndeliveredStore;
}

export interface ResendInput {
  filter: UndeliveredFilter;
  total: number;
}

export interface ResendsDeps {
  store: Store;
  clock: Clock;
  undelivered: UndeliveredStore;
  toWebhooks: OperationBeginner<ResendInput>;
  toChannels: OperationBeginner<ResendInput>;
}

/** Oldest first per target. `outbox.resend` is for admins. */
export const resendOperation = (
  kind: 'webhooks.resend' | 'outbox.resend',
  { store, clock, outgoing, undelivered }: ResendOperationDeps,
): OperationKind<ResendInput, WalkCheckpoint> => ({
  kind,
  isResumable: true,
  isAdmins: kind === 'outbox.resend',
  run: async (run) => {
    const { filter, total } = run.input;
    const lanes = lanesIn(await undelivered.count(filter));
    // A manual resend overrides the pause after failures.
    if (run.checkpoint === null) for (const lane of lanes) outgoing.rest(lane, 0);
    return walkLanes(
      {
        lanes,
        waiting: outgoing.waiting,
        next: async (targetId, after, limit) => {
          const found = await undelivered.after(filter, targetId, { after, limit });
          return found.map(({ id, skipped }) => ({
            id,
            todo:
              skipped === null
                ? { steps: requeueMessage({ store, clock }, { id, from: filter.status }) }
                : { skip: skipped },
          }));
        },
        added: outgoing.added,
        unit: 'messages',
        verb: 'resent',
        total,
      },
      run,
    );
  },
});

export const resendUndelivered = async (
  deps: ResendsDeps,
  { to, targetId, given }: { to: 'webhook' | 'channel'; targetId?: string; given: ResendRequest },
  by: Caller & Recorder,
): Promise<Operation | CustomReply<OperationPreview>> => {
  const { store, clock, undelivered } = deps;
  const { status = ['failed' as const], since = null, until = null, dryRun } = given;
  const { failedBy = iso(clock.now()) } = given;
  const filter: UndeliveredFilter = {
    webhooksOf: to === 'webhook' ? by.userId : null,
    targetId: targetId ?? null,
    status,
    since,
    until,
    failedBy,
    before: mint('sending', clock.now()),
  };
  const counts = await undelivered.count(filter);
  const listedAt = iso(clock.now());
  const { count, parts } = buildOperationPreview(counts, { items: [], listedAt });
  const noted = { ...(targetId && { targetId }), status, since, until, count };
  if (dryRun) {
    await store.transact([by.record({ data: { ...noted, dryRun } })]);
    const items = await undelivered.first(filter, SHOWN_ITEMS);
    return new CustomReply(200, buildOperationPreview(counts, { items, listedAt }));
  }
  const beginner = to === 'webhook' ? deps.toWebhooks : deps.toChannels;
  const title = to === 'webhook' ? 'Resend failed deliveries' : 'Resend failed messages';
  const [only] = targetId ? parts : [];
  return beginner.begin(
    {
      userId: by.userId,
      resource: targetId ? { kind: to, id: targetId } : { kind: 'user', id: by.userId },
      title: `${title}${only ? ` to ${only.name}` : ''}`,
      input: { filter, total: count },
      progress: { total: count, unit: 'messages' },
    },
    [by.record({ data: noted })],
  );
};
