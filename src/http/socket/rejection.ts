import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** What Node's `upgrade` event brings. */
export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** Headers that offer the upgrade; all else of the request stays as it came. */
const OFFER = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Answers a request that offers an upgrade to something else as if it had not (RFC 9110, 7.8).
 * curl and Java's client offer h2c and go on with HTTP/1.1 where the server keeps silent, but Node
 * hands every offer to the `upgrade` event as soon as that has a listener. So the request goes back
 * on its socket without the offer, and the server reads it once more.
 */
export const decline = (server: Server, { request, socket, head }: Upgrade): void => {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(at, at + 2);
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  // One request per connection, so that listeners do not pile up on a socket read so twice.
  lines.push('Connection: close', '', '');
  if (head.length > 0) socket.unshift(head);
  socket.unshift(Buffer.from(lines.join('\r\n'), 'latin1'));
  server.emit('connection', socket);
};
