import type { Server } from '@hapi/hapi';

/** The path of one hook, or of one outgoing webhook, with its query. */
const ONE = /^\/api\/webhooks\/[^/?]+\/?(?:\?|$)/;
/** An outgoing webhook, which takes a token. */
const OUTGOING = /^\/api\/webhooks\/webhook_[0-9a-z]{26}$/;
const HUB_ASKS = /\?(?:.*&)?hub\.challenge=/;

/**
 * Sends a handshake to its own route. A hub asks by GET at the address that it was given (W3C WebSub,
 * 5.3), and other senders try the address by HEAD or GET: there a user with a token reads an outgoing
 * webhook.
 */
export const routeHandshakes = (server: Server): void => {
  server.ext('onRequest', (request, h) => {
    const { method, url = '', headers } = request.raw.req;
    if ((method !== 'GET' && method !== 'HEAD') || !ONE.test(url)) return h.continue;
    const [path = ''] = url.split(/\/?(?:\?|$)/, 1);
    const query = url.slice(url.indexOf('?') + 1 || url.length);
    if (method === 'GET' && HUB_ASKS.test(url)) request.setUrl(`${path}/challenge?${query}`);
    else if (headers.authorization === undefined && !OUTGOING.test(path))
      request.setUrl(`${path}/try`);
    return h.continue;
  });
};
