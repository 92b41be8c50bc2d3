import type { DgramSocket } from 'node-unix-socket';

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

const silent: ServiceManager = { ready: () => undefined, stopping: () => undefined };

/**
 * Opens the connection to systemd. `onError` gets what cannot be sent: systemd then restarts a
 * service that seems hung, so its log must say why.
 */
export const openServiceManager = async (
  { socket: path, watchdogMs }: NotifySettings,
  onError: (error: unknown) => void,
): Promise<ServiceManager> => {
  if (path === null) return silent;
  const socket = await openSocket(onError);
  if (socket === null) return silent;
  const send = (state: string): void => {
    const message = Buffer.from(state);
    socket.sendTo(message, 0, message.length, path, (error) => error && onError(error));
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    ready: () => {
      send('READY=1');
      // systemd recommends half of the limit.
      if (watchdogMs !== null) timer = setInterval(() => send('WATCHDOG=1'), watchdogMs / 2).unref();
    },
    stopping: () => {
      clearInterval(timer);
      send('STOPPING=1');
      socket.close();
    },
  };
};

/** Null on a platform for which the optional package has no binary. */
const openSocket = async (onError: (error: unknown) => void): Promise<DgramSocket | null> => {
  try {
    const { DgramSocket } = await import('node-unix-socket');
    return new DgramSocket();
  } catch (error) {
    onError(error);
    return null;
  }
};
