import type { TextDelta } from '../agents/contract.js';
import { isRecord } from '../kernel/jsonvalue.js';

/** The topic of replies as they are written. */
export const DELTAS = 'agent.delta';

/** A reply that is being written, as far as it is known. */
export interface ReplyText {
  step: number;
  /** The newest part of it, with `…` where text was left out. */
  text: string;
  /** Place behind the last character in the whole reply. */
  to: number;
}

/** The most characters of a reply that are kept; the message has all of them. */
const MOST = 65_536;

export const isTextDelta = (data: unknown): data is TextDelta =>
  isRecord(data) &&
  typeof data.agentId === 'string' &&
  typeof data.step === 'number' &&
  typeof data.from === 'number' &&
  typeof data.text === 'string';

/**
 * Adds a delta to the reply. A delta of another step, or of the beginning, begins another reply. Text
 * that is known already is not added again.
 */
export const withDelta = (reply: ReplyText | null, { step, from, text }: TextDelta): ReplyText => {
  const to = from + text.length;
  if (reply?.step !== step || from === 0) {
    return { step, text: (from > 0 ? `… ${text}` : text).slice(-MOST), to };
  }
  const fresh = from > reply.to ? ` … ${text}` : text.slice(reply.to - from);
  return { step, text: (reply.text + fresh).slice(-MOST), to: Math.max(to, reply.to) };
};
