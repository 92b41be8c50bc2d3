import type { AddressedSending, SendingRow, Targets } from '../store/tables/outbox.js';
import type { Posting } from './outbox.js';

/** How one attempt to send ended. */
export type SendResult = { status?: number; excerpt?: string } & (
  | { verdict: 'sent'; receipt: string | null }
  /** Nothing arrived, or what arrived twice is known by its id: worth another try. */
  | { verdict: 'retry'; error: string; afterMs?: number }
  | { verdict: 'failed'; error: string; isGone?: boolean }
  /** It may have arrived: the answer was lost. */
  | { verdict: 'unknown'; error: string }
);

export type Unsent = Exclude<SendResult, { verdict: 'sent' }>;

/** What takes messages to one kind of target. */
export interface Transport {
  /** Whether the target knows a repeat by its id, so that what may have arrived is sent again. */
  isRepeatable: boolean;
  /** Before the second attempt, the third, and so on; after the last it is a dead letter. */
  delaysMs: readonly number[];
  /**
   * Waits until the target takes another message, while it is not yet written down that this one
   * may be on its way. Throws only when `signal` is aborted.
   */
  ready?(sending: SendingRow, signal: AbortSignal): Promise<void>;
  /** Sends once; network failures are verdicts. Throws only when `signal` is aborted. */
  send(sending: AddressedSending, signal: AbortSignal): Promise<SendResult>;
  /**
   * What else changes with the end of an attempt that failed, in its transaction: a target that is
   * gone, or has failed for so long that it is given up.
   */
  failed?(sending: SendingRow, sent: Unsent): Promise<Posting>;
}

/** The outgoing webhooks; channels go by their own kinds. */
export const ENDPOINT = 'endpoint';

/** Who takes messages where, by the kind of the channel or `endpoint`. */
export interface Transports {
  put(target: string, transport: Transport): void;
  find(target: string): Transport | undefined;
  /** Which of the kinds know a repeat by its id, and for which `ready` is to be awaited. */
  targets(): Targets;
}

export const createTransports = (): Transports => {
  const transports = new Map<string, Transport>();
  let targets: Targets = { repeatable: [], paced: [] };
  return {
    put: (target, transport) => {
      transports.set(target, transport);
      targets = {
        repeatable: kindsOf(transports, ({ isRepeatable }) => isRepeatable),
        paced: kindsOf(transports, ({ ready }) => ready !== undefined),
      };
    },
    find: (target) => transports.get(target),
    targets: () => targets,
  };
};

const kindsOf = (
  transports: Map<string, Transport>,
  is: (transport: Transport) => boolean,
): string[] => [...transports].filter(([, transport]) => is(transport)).map(([kind]) => kind);
