import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Cancel, systemClock } from './clock.js';
import { programEnv } from './program.js';

const run = promisify(execFile);

/** See sd_notify(3) and sd_watchdog_enabled(3). */
export interface NotifySettings {
  socket: string | null;
  watchdogMs: number | null;
}

export interface ServiceManager {
  ready(): void;
  stopping(): void;
}

/**
 * Uses systemd-notify(1), because Node has no Unix datagram sockets. `onError` logs errors, because
 * systemd restarts a service that seems to hang.
 */
export const openServiceManager = (
  { socket, watchdogMs }: NotifySettings,
  onError: (error: unknown) => void,
): ServiceManager => {
  if (socket === null) return { ready: () => undefined, stopping: () => undefined };
  const env = { ...programEnv(['/usr/bin', '/bin']), NOTIFY_SOCKET: socket };
  let last = Promise.resolve();
  let waiting = 0;
  // One after the other, because each is a process and the order matters.
  const send = (state: string): void => {
    waiting++;
    last = last.then(async () => {
      await run('systemd-notify', [state], { env }).catch(onError);
      waiting--;
    });
  };
  let stop: Cancel | undefined;
  return {
    ready: () => {
      send('READY=1');
      if (watchdogMs === null) return;
      stop = systemClock.every(watchdogMs / 2, () => waiting > 0 || send('WATCHDOG=1'), {
        ref: false,
      });
    },
    stopping: () => {
      stop?.();
      send('STOPPING=1');
    },
  };
};
