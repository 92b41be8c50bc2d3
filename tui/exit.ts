import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface TerminalExit {
  code: number;
  error?: unknown;
}

/**
 * Reports each noticeable end of the process: a signal or an uncaught error. Returns a function
 * that stops it.
 */
export const onProcessEnd = (report: (ending: TerminalExit) => void): (() => void) => {
  const bySignal = SIGNALS.map((signal) => {
    const hear = (): void => report({ code: 128 + constants.signals[signal] });
    process.on(signal, hear);
    return () => process.off(signal, hear);
  });
  // Node.js would write its warnings into the screen.
  process.removeAllListeners('warning').on('warning', () => {});
  const fail = (error: unknown): void => report({ code: 1, error });
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  return () => {
    for (const stop of bySignal) stop();
    process.off('uncaughtException', fail);
    process.off('unhandledRejection', fail);
  };
};
