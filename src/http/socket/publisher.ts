import type { Server } from '@hapi/hapi';
import { type Nes, plugin } from '@hapi/nes';
import { WebSocketServer } from 'ws';
import type { SocketSettings } from './socketserver.js';

declare module '@hapi/hapi' {
  interface PluginProperties {
    /** Internal to nes; the only reason why its version is pinned. */
    nes?: { _listener?: { _wss?: unknown } };
  }
}

/**
 * nes handles authentication and subscriptions, but gets its connections from the upgrade gate.
 * Throws if another upgrade listener exists, or if nes has changed.
 */
export const handleUpgrades = async (
  server: Server,
  settings: Pick<SocketSettings, 'strategy' | 'channels' | 'limits'>,
): Promise<WebSocketServer> => {
  const { listener } = server;
  if (listener.listenerCount('upgrade') > 0)
    throw new Error('Another upgrade listener is already registered');
  await server.register({ plugin, options: nesOptions(settings.strategy) });
  const wss = server.plugins.nes?._listener?._wss;
  if (!(wss instanceof WebSocketServer)) {
    throw new Error(
      '@hapi/nes has changed internally: _listener._wss of the ws library is missing',
    );
  }
  listener.removeAllListeners('upgrade');
  const { maxFrameBytes, closeMs } = settings.limits;
  Object.assign(wss.options, { maxPayload: maxFrameBytes, closeTimeout: closeMs });
  for (const channel of Object.keys(settings.channels))
    server.subscription(`/${channel}`, subscription);
  return wss;
};

/** No timers of nes: the bridge greets at once, and the connections have one timer. */
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

/** The index by user lets tests verify that nes forgets disconnected clients. */
const subscription: Nes.SubscriptionOptions = { auth: { mode: 'required', index: true } };
