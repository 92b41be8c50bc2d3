import type { TextDelta } from '../agents/contract.js';
import { isRecord } from '../kernel/jsonvalue.js';

export const DELTAS = 'agent.delta';

export interface ReplyText {
  step: number;
  text: string;
  to: number;
}

/** Maximum characters kept. The message contains all. */
const MAX_LENGTH = 65_536;

export const isTextDelta = (data: unknown): data is TextDelta =>
  isRecord(data) &&
  typeof data.agentId === 'string' &&
  typeof data.step === 'number' &&
  typeof data.from === 'number' &&
  typeof data.text === 'string';

/**
 * A delta of another step, or from the start, begins a new reply. Known text is not added again.
 */
export const withDelta = (reply: ReplyText | null, { step, from, text }: TextDelta): ReplyText => {
  const to = from + text.length;
  if (reply?.step !== step || from === 0) {
    return { step, text: (from > 0 ? `… ${text}` : text).slice(-MAX_LENGTH), to };
  }
  const fresh = from > reply.to ? ` … ${text}` : text.slice(reply.to - from);
  return { step, text: (reply.text + fresh).slice(-MAX_LENGTH), to: Math.max(to, reply.to) };
};
