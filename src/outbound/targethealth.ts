import type { SendResult } from './transport.js';

/** Conversations and replies keep their order. */
const CHANNEL_LIMIT = 1;
const WEBHOOK_LIMIT = 4;
const OWNER_LIMIT = 8;
const FIRST_REST_MS = 250;
const MAX_REST_MS = 60_000;
const MAX_ASKED_MS = 10 * 60_000;

/**
 * In memory. A failing target pauses longer each time, and is tried with one message before the
 * others follow.
 */
export const createTargetHealth = () => {
  const well = new Set<string>();
  const failures = new Map<string, number>();
  return {
    limitOf: (lane: string): number =>
      lane.startsWith('webhook_')
        ? WEBHOOK_LIMIT
        : lane.startsWith('channel_') || lane.startsWith('reply_')
          ? CHANNEL_LIMIT
          : OWNER_LIMIT,
    isDoubtful: (lane: string): boolean => !lane.startsWith('owner_') && !well.has(lane),
    /** Returns the pause for the target in milliseconds. */
    note: (lane: string, sent: SendResult): number => {
      if (sent.verdict === 'sent') {
        well.add(lane);
        failures.delete(lane);
        return 0;
      }
      // A rejected message says nothing about the next one.
      if (sent.verdict === 'failed' && !sent.isGone) return 0;
      const count = (failures.get(lane) ?? 0) + 1;
      failures.set(lane, count);
      well.delete(lane);
      return restMs(count, sent);
    },
  };
};

export type TargetHealth = ReturnType<typeof createTargetHealth>;

const restMs = (count: number, sent: SendResult): number => {
  const askedMs = sent.verdict === 'retry' ? (sent.afterMs ?? 0) : 0;
  const ownMs = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** Math.min(count - 1, 10));
  return Math.min(MAX_ASKED_MS, Math.max(askedMs, ownMs * (1 + Math.random() * 0.2)));
};
