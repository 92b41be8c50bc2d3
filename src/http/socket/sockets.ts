import type { Server } from '@hapi/hapi';
import type { WebSocketServer } from 'ws';
import { Wire } from './connection.js';
import { Connections } from './connections.js';
import type { ExchangeShared } from './exchange.js';
import { FrameLoop } from './frameloop.js';
import { concerns, type Guest, UpgradeGate } from './gate.js';
import { defaults, type SocketLimits } from './limits.js';
import { openSwitchboard } from './publisher.js';
import { upgradeRequired } from './refusals.js';
import { decline } from './rejection.js';
import type { SocketDoor, SocketOptions, Sockets } from './socketserver.js';

/** Serves `/ws` as PROTOCOL.md describes. Call it once, before the server starts. */
export const openSockets = async (
  server: Server,
  door: SocketDoor,
  options: SocketOptions,
): Promise<Sockets> => {
  const limits = { ...defaults, ...options.limits };
  const connections = openConnections(server, options, limits);
  const close = async () => {
    gate.close();
    await connections.close();
  };
  // Comes before nes's own close, which gives no code.
  server.ext('onPreStop', close);
  const wss = await openSwitchboard(server, { ...options, limits });
  const admitted = welcome({ wss, door, connections, limits, options });
  const gate = new UpgradeGate({ wss, door, connections, limits, options, admitted });
  listen(server, gate);
  return {
    publish: (userId, channel, data) => connections.publish(userId, channel, data),
    endSession: (sessionId) => connections.endSession(sessionId),
    endUser: (userId) => connections.endUser(userId),
    stats: () => connections.stats(),
    close,
  };
};

const openConnections = (
  server: Server,
  options: SocketOptions,
  limits: SocketLimits,
): Connections =>
  new Connections({
    limits,
    log: options.log,
    now: () => options.clock.now(),
    // nes types it as void, but it returns a promise of the whole fan-out.
    send: async (user, channel, data) =>
      server.publish(`/${channel}`, data, { user, internal: { user } }),
  });

const listen = (server: Server, gate: UpgradeGate): void => {
  server.listener.on('upgrade', (request, socket, head) => {
    if (concerns(request)) void gate.knock({ request, socket, head });
    else decline(server.listener, { request, socket, head });
  });
  server.route({
    method: 'GET',
    path: '/ws',
    options: { auth: false },
    handler: () => {
      throw upgradeRequired();
    },
  });
};

interface Hosts {
  wss: WebSocketServer;
  door: SocketDoor;
  connections: Connections;
  limits: SocketLimits;
  options: SocketOptions;
}

/** Returns the function that sets up an admitted client. */
const welcome = ({ wss, door, connections, limits, options }: Hosts) => {
  const around: ExchangeShared = {
    door,
    limits,
    channels: new Map(Object.entries(options.channels)),
    log: options.log,
    enter: (bridge, peer) => wss.emit('connection', bridge, peer),
  };
  return ({ ws, identity, peer }: Guest): void => {
    const { userId, sessionId } = identity;
    const wire = new Wire(ws, identity, {
      limits,
      heard: (text) => void talk.hear(text),
      slow: (backlogBytes) => {
        connections.countSlow();
        options.log('ws.slow', { userId, backlogBytes });
      },
      closed: (code) => {
        connections.remove(wire);
        talk.leave();
        options.log('ws.closed', { userId, code });
      },
    });
    const talk = new FrameLoop({ wire, audience: connections.audienceOf(userId), peer }, around);
    connections.add(wire);
    options.log('ws.opened', { userId, sessionId });
  };
};
