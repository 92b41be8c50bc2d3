import type { Queue } from '../../jobs/module.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import { pageLink } from '../../kernel/pagepath.js';
import type { Outbound } from '../../outbound/module.js';
import type { Backpressure } from './backpressure.js';
import type { ReceivingHook } from './receivinghooks.js';

const WAITING_PER_HOOK = 100_000;
const WAITING_OVERALL = 1_000_000;
const HOUR = 13;

/** Limits the queued executions. The owner of a full hook is notified once an hour. */
export const createBacklog = (deps: {
  clock: Clock;
  log: Log;
  queue: Pick<Queue, 'added' | 'totals' | 'waiting'>;
  outbound: Pick<Outbound, 'outbox'>;
  precedence: Backpressure;
}) => {
  const { clock, log, queue, outbound, precedence } = deps;
  const notified = new Map<string, string>();

  const notify = async ({ id, userId, name }: ReceivingHook): Promise<void> => {
    const hour = iso(clock.now()).slice(0, HOUR);
    if (notified.get(id) === hour) return;
    notified.set(id, hour);
    const waiting = queue.waiting(id);
    log.warn(
      { hookId: id, waiting },
      'the backlog of a hook is full; its senders receive status 429',
    );
    await outbound.outbox.send(userId, {
      kind: 'hook_full',
      title: `${name}: backlog full`,
      body: `${waiting} executions of this hook are queued. Its senders receive status 429 until the backlog shrinks. Accepted deliveries are not lost. Raise the concurrency of the hook to run more executions at once, or add conditions to skip some.`,
      link: `${pageLink('executions')}?hookId=${id}`,
      about: name,
      effectId: `full ${id} ${hour}`,
    });
  };

  return {
    accepted: (): void => precedence.accepted(),
    added: (hookId: string): void => queue.added(hookId),
    isFull: (firing: ReceivingHook[]): boolean => {
      const full = firing.filter(({ id }) => queue.waiting(id) >= WAITING_PER_HOOK);
      for (const hook of full) {
        notify(hook).catch((err) =>
          log.warn({ err }, 'failed to notify the owner of a hook with a full backlog'),
        );
      }
      return full.length > 0 || queue.totals().waiting >= WAITING_OVERALL;
    },
  };
};

export type Backlog = ReturnType<typeof createBacklog>;
