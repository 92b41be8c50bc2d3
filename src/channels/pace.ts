import { setTimeout as wait } from 'node:timers/promises';

/** Messages that platforms accept at once; after that it is one a second for each chat. */
const BURST = 5;
const EVERY_MS = 1000;
const MAX_CHATS = 10_000;

/** Waits until another message may go to the chat. Throws if the signal aborts. */
export type ChatPace = (chat: string, signal: AbortSignal) => Promise<void>;

/**
 * Makes the pace of chats with the generic cell rate algorithm (ITU-T I.371), which needs one time
 * for each chat to know how much of its burst is used. `now` returns milliseconds of a monotonic
 * clock.
 */
export const createChatPace = (now = (): number => performance.now()): ChatPace => {
  /** Times at which each chat will have been silent for long enough to accept a whole burst. */
  const rested = new Map<string, number>();
  return async (chat, signal) => {
    const at = now();
    const due = Math.max(at, rested.get(chat) ?? 0) + EVERY_MS;
    rested.delete(chat);
    if (rested.size >= MAX_CHATS) forgetRested(rested, at);
    rested.set(chat, due);
    const waitMs = due - at - BURST * EVERY_MS;
    if (waitMs > 0) await wait(waitMs, undefined, { signal });
  };
};

const forgetRested = (rested: Map<string, number>, at: number): void => {
  for (const [chat, due] of rested) if (due <= at) rested.delete(chat);
};
