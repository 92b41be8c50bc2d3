import { createQueue, type Queue, type QueueDeps } from '../jobs/queue.js';
import { createEventFanout, EVENT_JOB } from './eventfanout.js';
import { createNoticeFanout, type FanoutDeps } from './fanout.js';
import { SENDING_JOB } from './messages.js';
import { NOTICE_JOB } from './outbox.js';
import { createPulse, type Pulse } from './pulse.js';
import { createSender, type SenderDeps } from './send.js';
import type { Transports } from './transport.js';

/**
 * The maximum number of messages under way. They wait for replies nearly all of their time, so many
 * at once cost little.
 */
const CONCURRENCY = 512;
/** The share of these for targets that have not yet replied well. */
const DOUBTFUL = 256;

/** Opens the queue of all outbound messages. */
export const openOutgoing = (
  deps: Pick<QueueDeps, 'store' | 'clock' | 'log' | 'boot'> & { transports: Transports },
): { queue: Queue; pulse: Pulse } => {
  const pulse = createPulse();
  const queue = createQueue({
    ...deps,
    concurrency: CONCURRENCY,
    limitOf: pulse.limitOf,
    targets: deps.transports.targets,
    caution: { isDoubtful: pulse.isDoubtful, most: DOUBTFUL },
  });
  return { queue, pulse };
};

export const handleOutgoing = (deps: { queue: Queue } & FanoutDeps & SenderDeps): void => {
  deps.queue.handle(NOTICE_JOB, createNoticeFanout(deps));
  deps.queue.handle(EVENT_JOB, createEventFanout(deps));
  deps.queue.handle(SENDING_JOB, createSender(deps));
};
