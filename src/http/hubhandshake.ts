import type { Server } from '@hapi/hapi';

const HUB_ASKS = /^\/api\/webhooks\/[^/]+\/?\?(?:.*&)?hub\.challenge=/;

/**
 * Sends the handshake of a hub to its own route: it asks by GET at the address that it was given
 * (W3C WebSub, 5.3), where a user with a token reads an outgoing webhook.
 */
export const routeHandshakes = (server: Server): void => {
  server.ext('onRequest', (request, h) => {
    const { method, url = '' } = request.raw.req;
    if (method === 'GET' && HUB_ASKS.test(url)) {
      request.setUrl(url.replace(/\/?\?/, '/challenge?'));
    }
    return h.continue;
  });
};
