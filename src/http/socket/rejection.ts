import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** The values of Node's `upgrade` event. */
export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** Headers that offer the upgrade; all other headers stay unchanged. */
const OFFER = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Handles a request that offers an upgrade to another protocol as if it had not (RFC 9110, 7.8).
 * curl and Java's client offer h2c and continue with HTTP/1.1 if the server ignores that, but Node
 * passes every offer to the `upgrade` event as soon as it has a listener. The request is therefore
 * put back on its socket without the offer, and the server reads it once more.
 */
export const decline = (server: Server, { request, socket, head }: Upgrade): void => {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(at, at + 2);
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  // Only one request per connection, because listeners would accumulate on a socket that is read
  // twice.
  lines.push('Connection: close', '', '');
  if (head.length > 0) socket.unshift(head);
  socket.unshift(Buffer.from(lines.join('\r\n'), 'latin1'));
  server.emit('connection', socket);
};
