import type { AddressedMessage, OutboundMessageRow, Targets } from '../store/tables/outbox.js';
import type { QueuedMessage } from './outbox.js';

/** The result of one attempt to send. */
export type SendResult = { status?: number; excerpt?: string } & (
  | { verdict: 'sent'; receipt: string | null }
  /** Worth another attempt: nothing arrived, or the target recognises a duplicate by its id. */
  | { verdict: 'retry'; error: string; afterMs?: number }
  | { verdict: 'failed'; error: string; isGone?: boolean }
  /** The message may have arrived: the reply was lost. */
  | { verdict: 'unknown'; error: string }
);

export type FailedSend = Exclude<SendResult, { verdict: 'sent' }>;

/** The sender of messages to one kind of target. */
export interface Transport {
  /**
   * True if the target recognises a duplicate by its id, so that a message that may have arrived is
   * sent again.
   */
  isRepeatable: boolean;
  /**
   * The delays before the second attempt, the third, and so on, in milliseconds; after the last
   * attempt the message is a dead letter.
   */
  delaysMs: readonly number[];
  /**
   * Waits until the target takes another message, before the message is recorded as possibly on its
   * way. Throws only when `signal` is aborted.
   */
  ready?(message: OutboundMessageRow, signal: AbortSignal): Promise<void>;
  /** Sends once; network failures are verdicts. Throws only when `signal` is aborted. */
  send(message: AddressedMessage, signal: AbortSignal): Promise<SendResult>;
  /**
   * Returns further changes for the transaction of a failed attempt, if the target is gone, or has
   * failed for so long that it is given up.
   */
  failed?(message: OutboundMessageRow, sent: FailedSend): Promise<QueuedMessage>;
}

/** The kind of outgoing webhooks; channels have kinds of their own. */
export const ENDPOINT = 'endpoint';

/** Creates the list of the transports by the kind of the channel, or `endpoint`. */
export const createTransports = () => {
  const transports = new Map<string, Transport>();
  let targets: Targets = { repeatable: [], paced: [] };
  return {
    put: (target: string, transport: Transport): void => {
      transports.set(target, transport);
      targets = {
        repeatable: kindsOf(transports, ({ isRepeatable }) => isRepeatable),
        // Of webhooks only those with a rate of their own wait for a turn.
        paced: [ENDPOINT, ...kindsOf(transports, ({ ready }) => ready !== undefined)],
      };
    },
    find: (target: string): Transport | undefined => transports.get(target),
    /**
     * Returns the kinds that recognise a duplicate by its id, and those for which `ready` must be
     * awaited.
     */
    targets: (): Targets => targets,
  };
};

export type Transports = ReturnType<typeof createTransports>;

const kindsOf = (
  transports: Map<string, Transport>,
  is: (transport: Transport) => boolean,
): string[] => [...transports].filter(([, transport]) => is(transport)).map(([kind]) => kind);
