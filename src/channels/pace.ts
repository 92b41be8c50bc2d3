import type { Clock } from '../kernel/clock.js';

/** Then one message per second and chat. */
const BURST = 5;
const EVERY_MS = 1000;
const MAX_CHATS = 10_000;

/** Throws if the signal aborts. */
export type ChatPace = (chat: string, signal: AbortSignal) => Promise<void>;

/** Generic cell rate algorithm (ITU-T I.371), which stores one time per chat. */
export const createChatPace = (clock: Clock): ChatPace => {
  /** When each chat can accept a full burst again. */
  const rested = new Map<string, number>();
  let last = Number.NEGATIVE_INFINITY;
  return async (chat, signal) => {
    const at = clock.now();
    // After the clock was set back, the stored times would be too far away.
    if (at < last) rested.clear();
    last = at;
    const due = Math.max(at, rested.get(chat) ?? 0) + EVERY_MS;
    rested.delete(chat);
    if (rested.size >= MAX_CHATS) forgetRested(rested, at);
    rested.set(chat, due);
    const waitMs = due - at - BURST * EVERY_MS;
    if (waitMs > 0) await clock.wait(waitMs, signal);
  };
};

const forgetRested = (rested: Map<string, number>, at: number): void => {
  for (const [chat, due] of rested) if (due <= at) rested.delete(chat);
};
