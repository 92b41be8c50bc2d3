import type { Server } from '@hapi/hapi';

const ONE = /^\/api\/webhooks\/[^/?]+\/?(?:\?|$)/;
const OUTGOING = /^\/api\/webhooks\/webhook_[0-9a-z]{26}$/;
const HUB_ASKS = /\?(?:.*&)?hub\.challenge=/;

/**
 * Hubs send GET to the hook address (W3C WebSub, 5.3), others HEAD or GET. The same path serves
 * outgoing webhooks to users with a token.
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
