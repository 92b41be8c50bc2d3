import { buttonScopeIn } from './buttonscopes.js';
import { asText, parseJsonObject } from './call.js';
import type { Inbound } from './platform.js';

/**
 * `{ channelId, text }` or `{ channelId, approvalId, digest, approved, scope? }`. null without a
 * channel.
 */
export const parseWebhook = (
  body: Buffer,
  webhookId: string,
): { channelId: string; event: Inbound } | null => {
  const { channelId, text, approvalId, digest, approved, scope } = parseJsonObject(
    body.toString('utf8'),
  );
  if (typeof channelId !== 'string' || channelId === '') return null;
  const from = {
    sender: { id: channelId, name: channelId },
    eventId: `${channelId} ${webhookId}`,
    replyTo: null,
  };
  if (typeof approved === 'boolean') {
    const reply = { approvalId: asText(approvalId), digest: asText(digest), approved };
    const wanted = buttonScopeIn(scope);
    const more = wanted && { scope: wanted };
    return { channelId, event: { kind: 'button', ...from, ...reply, ...more } };
  }
  if (asText(text).trim() === '') return { channelId, event: { kind: 'ignored' } };
  return { channelId, event: { kind: 'message', ...from, text: asText(text) } };
};
