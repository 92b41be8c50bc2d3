import type { Server } from '@hapi/hapi';
import { type Nes, plugin } from '@hapi/nes';
import { WebSocketServer } from 'ws';
import type { SocketLimits } from './limits.js';

declare module '@hapi/hapi' {
  interface PluginProperties {
    /** Not part of nes's interface: the one reason why its version is pinned. */
    nes?: { _listener?: { _wss?: unknown } };
  }
}

interface SwitchboardSettings {
  strategy: string;
  channels: Readonly<Record<string, string>>;
  limits: SocketLimits;
}

/**
 * Registers nes for what it is good at (authentication by hapi, subscriptions, fan-out) and takes
 * the door away from it: its WebSocket server accepts only what is handed to it.
 * Throws at the start where another part listens for upgrades, or where nes is not as expected.
 */
export const openSwitchboard = async (
  server: Server,
  settings: SwitchboardSettings,
): Promise<WebSocketServer> => {
  const { listener } = server;
  if (listener.listenerCount('upgrade') > 0) throw new Error('Upgrades are already listened for');
  await server.register({ plugin, options: nesOptions(settings.strategy) });
  const wss = server.plugins.nes?._listener?._wss;
  if (!(wss instanceof WebSocketServer)) {
    throw new Error('@hapi/nes has changed inside: it has no _listener._wss of this ws library');
  }
  listener.removeAllListeners('upgrade');
  const { maxFrameBytes, closeMs } = settings.limits;
  Object.assign(wss.options, { maxPayload: maxFrameBytes, closeTimeout: closeMs });
  for (const channel of Object.keys(settings.channels))
    server.subscription(`/${channel}`, subscription);
  return wss;
};

/** No time of nes's is used: the bridge greets at once, and the list of connections has the one timer. */
const nesOptions = (strategy: string): Nes.PluginOptions => ({
  heartbeat: false,
  auth: {
    type: 'direct',
    route: strategy,
    index: true,
    timeout: false,
    minAuthVerifyInterval: false,
  },
});

/** The index finds a user's sockets; the filter is the second lock on the same door. */
const subscription: Nes.SubscriptionOptions = {
  auth: { mode: 'required', index: true },
  filter: (_path, _message, { credentials, internal }) =>
    typeof credentials?.user === 'string' && belongsTo(internal, credentials.user),
};

const belongsTo = (internal: unknown, user: string): boolean =>
  typeof internal === 'object' && internal !== null && 'user' in internal && internal.user === user;
