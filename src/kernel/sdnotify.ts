import { execFile } from 'node:child_process';
import { programEnv } from './program.js';

/** The settings that systemd passes to a service (sd_notify(3), sd_watchdog_enabled(3)). */
export interface NotifySettings {
  /** The socket of the service manager; null: nobody asked for notifications. */
  socket: string | null;
  /** The longest time between two notifications of a service that is alive; null: no limit. */
  watchdogMs: number | null;
}

/** Notifies the service manager of the daemon's state. */
export interface ServiceManager {
  /** Reports that the daemon is ready, and from then on that its event loop runs. */
  ready(): void;
  stopping(): void;
}

/**
 * Opens the connection to systemd by systemd-notify(1), which comes with it: Node has no datagram
 * sockets of the file system. `onError` gets what cannot be sent: systemd then restarts a service
 * that seems hung, so its log must say why.
 */
export const openServiceManager = (
  { socket, watchdogMs }: NotifySettings,
  onError: (error: unknown) => void,
): ServiceManager => {
  if (socket === null) return { ready: () => undefined, stopping: () => undefined };
  const env = { ...programEnv(['/usr/bin', '/bin']), NOTIFY_SOCKET: socket };
  const send = (state: string): void => {
    execFile('systemd-notify', [state], { env }, (error) => error && onError(error));
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    ready: () => {
      send('READY=1');
      // systemd recommends half of the limit.
      if (watchdogMs !== null)
        timer = setInterval(() => send('WATCHDOG=1'), watchdogMs / 2).unref();
    },
    stopping: () => {
      clearInterval(timer);
      send('STOPPING=1');
    },
  };
};
