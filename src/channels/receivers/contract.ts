import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const BODY_BYTES = 1024 * 1024;

const ReceiverReply = s
  .json()
  .description('Whatever the platform understands; an empty object where nothing is to be said');

/**
 * Endpoints for the requests of chat platforms. Each platform is recognised by its headers and
 * verified by its secret. Without a secret that is set and right, they are closed (401).
 */
export const messengers = contract({
  teamchat: endpoint.post('/api/teamchat-webhook', {
    summary: 'Receive from Slack, Microsoft Teams, Mattermost or Discord',
    access: 'public',
    example: { type: 'event_callback', event: { type: 'message', text: 'status' } },
    rawBytes: BODY_BYTES,
    reply: ReceiverReply,
  }),
  messenger: endpoint.post('/api/messenger-webhook', {
    summary: 'Receive from Telegram, WhatsApp, or a webhook channel',
    access: 'public',
    example: { update_id: 1, message: { message_id: 1, text: 'status', chat: { id: 42 } } },
    rawBytes: BODY_BYTES,
    reply: ReceiverReply,
  }),
  handshake: endpoint.get('/api/messenger-webhook', {
    summary: 'Prove to a platform that the endpoint is ours (WhatsApp)',
    access: 'public',
    query: s.record('Handshake').description('As the platform names them: hub.mode, hub.challenge'),
    reply: s.text(1000),
    produces: 'text/plain',
  }),
});
