import { fieldsOf } from './authentication.js';
import { wordsOf } from './fault.js';

/** A recipient whom a message did not reach, under each name that the report has for it. */
export interface FailedRecipient {
  addresses: string[];
  /** The words of the server that refused it, in one line. */
  reply: string;
}

/** A report of a server that did not deliver a message (RFC 3464). */
export interface FailureReport {
  /** The Message-IDs that the message may have: that of what was returned, and that of the envelope. */
  messageIds: string[];
  failed: FailedRecipient[];
}

/** Ours: the most recipients of a report that are looked at. A message of ours has 100 at most. */
const MAX_GROUPS = 1000;

/**
 * Reads the parts of a report: its `message/delivery-status`, and the message that it returns, or the
 * header of that. Recipients whom the message only reaches late are left out.
 */
export const failureReportOf = (status: string, returned: string): FailureReport => {
  const groups = status.split(/\r?\n(?:[ \t]*\r?\n)+/, MAX_GROUPS).map(fieldsByName);
  const header = fieldsByName(returned.trimStart().split(/\r?\n\r?\n/, 1)[0] ?? '');
  const [, id] = /<([^<>\s]{1,900})>/.exec(header.get('message-id') ?? '') ?? [];
  const envelopeId = groups[0]?.get('original-envelope-id');
  const ids = [id, envelopeId].flatMap((each) => (each ? [`<${each.slice(0, 900)}>`] : []));
  return { messageIds: [...new Set(ids)], failed: groups.flatMap(failedIn) };
};

/** Returns the fields of a group by their names, the first of each name. */
const fieldsByName = (text: string): Map<string, string> => {
  const fields = fieldsOf(text).map(({ name, value }): [string, string] => [name, value]);
  return new Map(fields.reverse());
};

const failedIn = (fields: Map<string, string>): FailedRecipient[] => {
  if (!/^failed\b/i.test(fields.get('action') ?? '')) return [];
  const named = [fields.get('original-recipient'), fields.get('final-recipient')];
  const addresses = named.flatMap(addressIn);
  return addresses.length === 0 ? [] : [{ addresses, reply: replyIn(fields) }];
};

/** Returns the address behind its type: `rfc822; bob@example.org`. */
const addressIn = (value = ''): string[] => {
  const [, address] = /^(?:rfc822|utf-8)\s*;\s*<?([^\s<>]{3,320})/i.exec(value) ?? [];
  return address === undefined ? [] : [address];
};

/** Returns the words of the server, else its status, such as 5.1.1. */
const replyIn = (fields: Map<string, string>): string =>
  wordsOf(fields.get('diagnostic-code')?.replace(/^[\w-]+\s*;/, '')) ||
  wordsOf(fields.get('status')) ||
  'No reason given';
