import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const BODY_BYTES = 1024 * 1024;

const ReceiverReply = s
  .json()
  .description('Response in the format of the platform. Empty object if there is no content');

/**
 * A platform is identified by its headers and authenticated by its secret. Requests without a
 * configured and valid secret get 401.
 */
export const messengers = contract({
  teamchat: endpoint.post('/api/teamchat-webhook', {
    summary: 'Receive requests from Slack, Teams, Mattermost or Discord',
    access: 'public',
    example: { type: 'event_callback', event: { type: 'message', text: 'status' } },
    rawBytes: BODY_BYTES,
    reply: ReceiverReply,
  }),
  messenger: endpoint.post('/api/messenger-webhook', {
    summary: 'Receive requests from Telegram, WhatsApp or webhook channels',
    description:
      'A webhook channel sends `channelId` and `text`, or `channelId`, `approvalId`, `digest` and `approved` to decide an approval. The request is signed with the secret of the channel (Standard Webhooks).',
    access: 'public',
    example: { update_id: 1, message: { message_id: 1, text: 'status', chat: { id: 42 } } },
    rawBytes: BODY_BYTES,
    reply: ReceiverReply,
  }),
  handshake: endpoint.get('/api/messenger-webhook', {
    summary: 'Answer the WhatsApp endpoint verification',
    access: 'public',
    query: s
      .record('Handshake')
      .description('Query parameters of the platform, for example `hub.mode` and `hub.challenge`'),
    reply: s.text(1000),
    produces: 'text/plain',
  }),
});
