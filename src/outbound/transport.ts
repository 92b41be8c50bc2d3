import type { AddressedMessage, OutboundMessageRow, Targets } from '../store/tables/outbox.js';
import type { QueuedMessage } from './outbox.js';

export type SendResult = { status?: number; excerpt?: string } & (
  | { verdict: 'sent'; receipt: string | null }
  /** Retry is safe: nothing arrived, or the target detects duplicates. */
  | { verdict: 'retry'; error: string; afterMs?: number }
  | { verdict: 'failed'; error: string; isGone?: boolean }
  /** The reply was lost; the message may have arrived. */
  | { verdict: 'unknown'; error: string }
);

export type FailedSend = Exclude<SendResult, { verdict: 'sent' }>;

export interface Transport {
  /** True if the target detects duplicates by id, so that a lost message is resent. */
  isRepeatable: boolean;
  /** Delays before the second and later attempts; afterwards the message fails. */
  delaysMs: readonly number[];
  /** Waits before the message is recorded as possibly sent. Throws only if `signal` is aborted. */
  ready?(message: OutboundMessageRow, signal: AbortSignal): Promise<void>;
  /** Network failures are verdicts. Throws only if `signal` is aborted. */
  send(message: AddressedMessage, signal: AbortSignal): Promise<SendResult>;
  /** Statements for a target that is gone or given up. */
  failed?(message: OutboundMessageRow, sent: FailedSend): Promise<QueuedMessage>;
  /** Called after the result of an attempt is stored. */
  settled?(message: OutboundMessageRow): void;
}

/** Kind of outgoing webhooks. */
export const ENDPOINT = 'endpoint';
/** Kind of replies of hooks to the source of a delivery. */
export const REPLY = 'reply';

export const createTransports = () => {
  const transports = new Map<string, Transport>();
  let targets: Targets = { repeatable: [], paced: [] };
  return {
    put: (target: string, transport: Transport): void => {
      transports.set(target, transport);
      targets = {
        repeatable: listKinds(transports, ({ isRepeatable }) => isRepeatable),
        // Only webhooks with a rate wait for a turn.
        paced: [ENDPOINT, ...listKinds(transports, ({ ready }) => ready !== undefined)],
      };
    },
    find: (target: string): Transport | undefined => transports.get(target),
    targets: (): Targets => targets,
  };
};

export type Transports = ReturnType<typeof createTransports>;

const listKinds = (
  transports: Map<string, Transport>,
  is: (transport: Transport) => boolean,
): string[] => [...transports].filter(([, transport]) => is(transport)).map(([kind]) => kind);
