import type { Server } from '@hapi/hapi';
import { isForSocket } from '../listener.js';
import { Connections } from './connections.js';
import { type Upgrade, UpgradeGate, upgradeRequired } from './gate.js';
import { defaults } from './limits.js';
import { nes } from './nes.js';
import { plainProtocol } from './plain.js';
import { handleUpgrades } from './publisher.js';
import type { SocketOptions, SocketService } from './socketserver.js';

/** Serves `/ws` (PROTOCOL.md). Call once before the server starts. */
export const openSockets = async (
  server: Server,
  service: SocketService,
  options: SocketOptions,
): Promise<Connections> => {
  const settings = { ...options, limits: { ...defaults, ...options.limits } };
  const connections = new Connections(settings);
  // Comes before nes's own close, which gives no code.
  server.ext('onPreStop', connections.close);
  const wss = await handleUpgrades(server, settings);
  const dialects = { plain: plainProtocol, nes };
  const gate = new UpgradeGate({ service, connections, settings, dialects, wss });
  server.listener.on('upgrade', (request, socket, head) => {
    if (isForSocket(request)) void gate.accept({ request, socket, head });
    else decline(server, { request, socket, head });
  });
  server.route({
    method: 'GET',
    path: '/ws',
    options: { auth: false },
    handler: () => {
      throw upgradeRequired();
    },
  });
  return connections;
};

const OFFER = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Ignores offers of other protocols (RFC 9110, 7.8), such as h2c from curl and Java. Node before
 * 24.9 passes every offer to the `upgrade` event, so the request is put back on its socket without
 * the offer and read again.
 */
const decline = ({ listener }: Server, { request, socket, head }: Upgrade): void => {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(at, at + 2);
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  // One request per connection, because listeners would accumulate.
  lines.push('Connection: close', '', '');
  if (head.length > 0) socket.unshift(head);
  socket.unshift(Buffer.from(lines.join('\r\n'), 'latin1'));
  listener.emit('connection', socket);
};
