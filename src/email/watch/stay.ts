import { setTimeout as pause } from 'node:timers/promises';
import type { ImapSession } from '../../providers/mail/imap.js';
import { inFolder, type OpenFolder } from '../messages/sync.js';

/** The times of a stay in a mailbox, in milliseconds. */
export interface StayTimes {
  /** The pause after news, so that many messages are processed together. */
  settleMs: number;
  /** The longest time in which a folder is watched without looking. Servers end an IDLE after 30 minutes. */
  idleMs: number;
  /** The same where there are other folders, which no server tells of. */
  othersMs: number;
  /** The pause where a server ends the wait at once. */
  restMs: number;
}

export const STAY_TIMES: StayTimes = {
  settleMs: 300,
  idleMs: 25 * 60_000,
  othersMs: 5 * 60_000,
  restMs: 5000,
};

interface MailboxStay {
  session: ImapSession;
  place: Omit<OpenFolder, 'session' | 'uidValidity' | 'folder'>;
  folders: string[];
  times: StayTimes;
  signal: AbortSignal;
  /** Processes what is new in an open folder. */
  look(opened: OpenFolder): Promise<void>;
  /** Called when all folders were looked at. */
  looked(): Promise<void>;
}

/**
 * Stays in a mailbox until the signal aborts or the connection fails, and looks at its folders when the
 * server tells of something new. It tells of the first folder alone; the others are looked at from time
 * to time. Where the server has no IDLE, it is asked every two minutes.
 */
export const stayInMailbox = async (stay: MailboxStay): Promise<void> => {
  const { session, folders, times, signal } = stay;
  const [first = 'INBOX', ...others] = folders;
  const news = createNews(session);
  const waitMs = others.length > 0 ? times.othersMs : times.idleMs;
  while (!signal.aborted) {
    for (const folder of others) await inFolder(session, { ...stay.place, folder }, stay.look);
    // It stays open from the look to the wait, so that nothing arrives in between unnoticed.
    await inFolder(session, { ...stay.place, folder: first }, async (opened) => {
      do {
        news.forget();
        await stay.look(opened);
      } while (news.isThere());
      await stay.looked();
      await idle(session, { news, waitMs, restMs: times.restMs, signal });
    });
    await pause(times.settleMs, undefined, { signal });
  }
};

/** Notes that the server tells of something new. */
const createNews = (session: ImapSession) => {
  let isThere = false;
  let wake = (): void => undefined;
  const note = (): void => {
    isThere = true;
    wake();
  };
  session.on('exists', note);
  session.on('expunge', note);
  return {
    isThere: (): boolean => isThere,
    forget: (): void => {
      isThere = false;
    },
    /** Resolves at the next news, at once if there are some. */
    next: (): Promise<void> =>
      new Promise((resolve) => {
        if (isThere) resolve();
        wake = resolve;
      }),
  };
};

/** Waits until there is news, at most so long. Rejects if the connection fails. */
const idle = async (
  session: ImapSession,
  of: {
    news: ReturnType<typeof createNews>;
    waitMs: number;
    restMs: number;
    signal: AbortSignal;
  },
): Promise<void> => {
  const over = new AbortController();
  const signal = AbortSignal.any([of.signal, over.signal]);
  const wait = (ms: number): Promise<unknown> =>
    pause(ms, undefined, { signal }).catch(() => undefined);
  const idling = session.idle();
  const rested = idling.then(() => (session.usable ? wait(of.restMs) : undefined));
  try {
    await Promise.race([of.news.next(), wait(of.waitMs), rested]);
  } finally {
    over.abort();
  }
  of.signal.throwIfAborted();
  // This ends the IDLE, and fails where the connection has.
  await session.noop();
  await idling;
};
