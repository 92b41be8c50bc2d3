import type { Clock } from '../../kernel/clock.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import { inFolder, type OpenFolder } from '../messages/sync.js';

/** In milliseconds. */
export interface FolderWatchTimes {
  /** Pause after news, so that many messages are processed together. */
  settleMs: number;
  /** Servers end an IDLE after 30 minutes. */
  idleMs: number;
  /** Interval for folders that the server does not report. */
  othersMs: number;
  /** Pause if a server ends the IDLE at once. */
  restMs: number;
}

export const FOLDER_WATCH_TIMES: FolderWatchTimes = {
  settleMs: 300,
  idleMs: 25 * 60_000,
  othersMs: 5 * 60_000,
  restMs: 5000,
};

/** Passes without a pause, until the server reports nothing for `restMs`. */
const FREE_PASSES = 3;

interface FolderWatch {
  clock: Clock;
  session: ImapSession;
  place: Omit<OpenFolder, 'session' | 'uidValidity' | 'folder'>;
  folders: string[];
  times: FolderWatchTimes;
  signal: AbortSignal;
  look(opened: OpenFolder): Promise<void>;
  /** Called after all folders were processed. */
  looked(): Promise<void>;
}

/**
 * Until the signal aborts or the connection fails. The server reports only the first folder; the
 * others are polled. Without IDLE it polls every two minutes.
 */
export const watchFolders = async (stay: FolderWatch): Promise<void> => {
  const { clock, session, folders, times, signal } = stay;
  const [first = 'INBOX', ...others] = folders;
  const news = createNews(session);
  const waitMs = others.length > 0 ? times.othersMs : times.idleMs;
  let passes = 0;
  /** A server that reports news all the time must not occupy the daemon. */
  const settle = async (): Promise<void> => {
    const ms = times.settleMs * 2 ** Math.max(0, ++passes - FREE_PASSES);
    if (passes > FREE_PASSES) await clock.wait(Math.min(ms, times.restMs), signal);
  };
  while (!signal.aborted) {
    for (const folder of others) await inFolder(session, { ...stay.place, folder }, stay.look);
    // Stays open between processing and IDLE, so that nothing is missed.
    await inFolder(session, { ...stay.place, folder: first }, async (opened) => {
      do {
        await settle();
        news.forget();
        await stay.look(opened);
      } while (news.isThere());
      await stay.looked();
      const since = clock.now();
      await idle(session, { clock, news, waitMs, restMs: times.restMs, signal });
      if (clock.now() - since >= times.restMs) passes = 0;
    });
    await clock.wait(times.settleMs, signal);
  }
};

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
    /** Resolves at once if there are unseen news. */
    next: (): Promise<void> =>
      new Promise((resolve) => {
        if (isThere) resolve();
        wake = resolve;
      }),
  };
};

/** Rejects if the connection fails. */
const idle = async (
  session: ImapSession,
  of: {
    clock: Clock;
    news: ReturnType<typeof createNews>;
    waitMs: number;
    restMs: number;
    signal: AbortSignal;
  },
): Promise<void> => {
  const over = new AbortController();
  const signal = AbortSignal.any([of.signal, over.signal]);
  const wait = (ms: number): Promise<void> => of.clock.wait(ms, signal).catch(() => undefined);
  const idling = session.idle();
  const rested = idling.then(() => (session.usable ? wait(of.restMs) : undefined));
  try {
    await Promise.race([of.news.next(), wait(of.waitMs), rested]);
  } finally {
    over.abort();
  }
  of.signal.throwIfAborted();
  // Ends the IDLE, and fails on a broken connection.
  await session.noop();
  await idling;
};
