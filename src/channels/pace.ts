import { setTimeout as wait } from 'node:timers/promises';

/** What platforms let pass at once, and how often after that: one a second to a chat. */
const BURST = 5;
const EVERY_MS = 1000;
const MOST_CHATS = 10_000;

/** Waits until another message may go to the chat. Throws where the signal is aborted. */
export type ChatPace = (chat: string, signal: AbortSignal) => Promise<void>;

/**
 * The generic cell rate algorithm (ITU-T I.371): one time a chat tells how much of its burst is used
 * up. `now` in milliseconds, of a clock that never steps back.
 */
export const createChatPace = (now = (): number => performance.now()): ChatPace => {
  /** When the chat will have been silent for long enough to take a whole burst. */
  const rested = new Map<string, number>();
  return async (chat, signal) => {
    const at = now();
    const due = Math.max(at, rested.get(chat) ?? 0) + EVERY_MS;
    rested.delete(chat);
    if (rested.size >= MOST_CHATS) forgetRested(rested, at);
    rested.set(chat, due);
    const waitMs = due - at - BURST * EVERY_MS;
    if (waitMs > 0) await wait(waitMs, undefined, { signal });
  };
};

const forgetRested = (rested: Map<string, number>, at: number): void => {
  for (const [chat, due] of rested) if (due <= at) rested.delete(chat);
};
