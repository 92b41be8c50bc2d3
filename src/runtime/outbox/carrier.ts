import type { SendingRow } from '../../store/tables/outbox.js';
import type { Posting } from './outbox.js';

/** How one attempt to send ended. */
export type Sent = { status?: number; excerpt?: string } & (
  | { verdict: 'sent'; receipt: string | null }
  /** Nothing arrived, or what arrived twice is known by its id: worth another try. */
  | { verdict: 'retry'; error: string; afterMs?: number }
  | { verdict: 'failed'; error: string; isGone?: boolean }
  /** It may have arrived: the answer was lost. */
  | { verdict: 'unknown'; error: string }
);

/** What takes messages to one kind of target. */
export interface Carrier {
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
  send(sending: SendingRow, signal: AbortSignal): Promise<Sent>;
  /**
   * What else changes with the end of an attempt, in its transaction: a target that is gone, or has
   * failed for so long that it is given up.
   */
  settled?(sending: SendingRow, sent: Sent): Promise<Posting>;
}

/** The outgoing webhooks; channels go by their own kinds. */
export const ENDPOINT = 'endpoint';

/** Who takes messages where, by the kind of the channel or `endpoint`. */
export interface Carriers {
  put(target: string, carrier: Carrier): void;
  find(target: string): Carrier | undefined;
  /** The kinds that know a repeat by its id. */
  repeatable(): string[];
  /** Those for which `ready` is to be awaited. */
  paced(): string[];
}

export const createCarriers = (): Carriers => {
  const carriers = new Map<string, Carrier>();
  return {
    put: (target, carrier) => carriers.set(target, carrier),
    find: (target) => carriers.get(target),
    repeatable: () => kindsOf(carriers, ({ isRepeatable }) => isRepeatable),
    paced: () => kindsOf(carriers, ({ ready }) => ready !== undefined),
  };
};

const kindsOf = (carriers: Map<string, Carrier>, is: (carrier: Carrier) => boolean): string[] =>
  [...carriers].filter(([, carrier]) => is(carrier)).map(([kind]) => kind);
