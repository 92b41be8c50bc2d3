import { parseHeaderFields } from './authentication.js';
import { sanitizeServerText } from './fault.js';

/** With each name in the report. */
export interface FailedRecipient {
  addresses: string[];
  /** Server reply in one line. */
  reply: string;
}

/** RFC 3464. */
export interface FailureReport {
  /** Of the returned message, and of the envelope. */
  messageIds: string[];
  failed: FailedRecipient[];
}

/** Our messages have at most 100 recipients. */
const MAX_GROUPS = 1000;

/**
 * Reads `message/delivery-status` and the returned message or header. Delayed recipients are
 * ignored.
 */
export const parseFailureReport = (status: string, returned: string): FailureReport => {
  const groups = status.split(/\r?\n(?:[ \t]*\r?\n)+/, MAX_GROUPS).map(fieldsByName);
  const header = fieldsByName(returned.trimStart().split(/\r?\n\r?\n/, 1)[0] ?? '');
  const [, id] = /<([^<>\s]{1,900})>/.exec(header.get('message-id') ?? '') ?? [];
  const envelopeId = groups[0]?.get('original-envelope-id');
  const ids = [id, envelopeId].flatMap((each) => (each ? [`<${each.slice(0, 900)}>`] : []));
  return { messageIds: [...new Set(ids)], failed: groups.flatMap(failedIn) };
};

/** First field of each name. */
const fieldsByName = (text: string): Map<string, string> => {
  const fields = parseHeaderFields(text).map(({ name, value }): [string, string] => [name, value]);
  return new Map(fields.reverse());
};

const failedIn = (fields: Map<string, string>): FailedRecipient[] => {
  if (!/^failed\b/i.test(fields.get('action') ?? '')) return [];
  const named = [fields.get('original-recipient'), fields.get('final-recipient')];
  const addresses = named.flatMap(addressIn);
  return addresses.length === 0 ? [] : [{ addresses, reply: replyIn(fields) }];
};

/** `rfc822; bob@example.org`. */
const addressIn = (value = ''): string[] => {
  const [, address] = /^(?:rfc822|utf-8)\s*;\s*<?([^\s<>]{3,320})/i.exec(value) ?? [];
  return address === undefined ? [] : [address];
};

/** Server reply, else the status such as 5.1.1. */
const replyIn = (fields: Map<string, string>): string =>
  sanitizeServerText(fields.get('diagnostic-code')?.replace(/^[\w-]+\s*;/, '')) ||
  sanitizeServerText(fields.get('status')) ||
  'No reason given';
