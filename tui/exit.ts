import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How the desk came to its end. */
export interface TerminalExit {
  code: number;
  /** What was thrown. */
  error?: unknown;
}

/** Told of every end that can be heard of: a signal, a thrown error. What comes back stops that. */
export const onEnding = (tell: (ending: TerminalExit) => void): (() => void) => {
  const bySignal = SIGNALS.map((signal) => {
    const hear = (): void => tell({ code: 128 + constants.signals[signal] });
    process.on(signal, hear);
    return () => process.off(signal, hear);
  });
  // Node writes its warnings into the screen.
  process.removeAllListeners('warning').on('warning', () => {});
  const fail = (error: unknown): void => tell({ code: 1, error });
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  return () => {
    for (const stop of bySignal) stop();
    process.off('uncaughtException', fail);
    process.off('unhandledRejection', fail);
  };
};
