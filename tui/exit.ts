import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The end of the desk, with its exit code. */
export interface TerminalExit {
  code: number;
  /** The error that was thrown, if one was. */
  error?: unknown;
}

/**
 * Calls `tell` at each end that the process can notice: a signal, or an error that nobody caught.
 * The returned function stops that.
 */
export const onEnding = (tell: (ending: TerminalExit) => void): (() => void) => {
  const bySignal = SIGNALS.map((signal) => {
    const hear = (): void => tell({ code: 128 + constants.signals[signal] });
    process.on(signal, hear);
    return () => process.off(signal, hear);
  });
  // Node would write its warnings into the screen.
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
