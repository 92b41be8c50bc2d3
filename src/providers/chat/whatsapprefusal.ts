import { asObject, asText, type PlatformCallReply, platformRefusal } from './call.js';
import type { PlatformRefusal } from './platform.js';

/** Uses Meta's error code, since the status is less precise; null if the call succeeded. */
export const whatsappRefusal = (reply: PlatformCallReply): PlatformRefusal | null => {
  const error = asObject(reply.body.error);
  const reason = errorTextIn(error);
  const code = Number(error.code);
  const seen = { status: reply.status, excerpt: reply.excerpt };
  if (FINAL[code])
    return { ...seen, verdict: 'failed', error: errorText(error), ...lateErrorFlag(code) };
  const afterMs = BUSY[code];
  if (afterMs) return { ...seen, verdict: 'retry', error: `WhatsApp returned ${reason}`, afterMs };
  return platformRefusal(reply, `WhatsApp returned ${reply.status}${reason && `: ${reason}`}`);
};

export const lateErrorFlag = (code: unknown): { isLate?: true } =>
  Number(code) in LATE ? { isLate: true } : {};

export const errorText = (error: Record<string, unknown>): string => {
  const code = Number(error.code);
  const reason = FINAL[code] ?? `WhatsApp returned ${errorTextIn(error) || 'no details'}`;
  return `${reason} (${code})`;
};

const errorTextIn = ({ error_data, message, title }: Record<string, unknown>): string =>
  asText(asObject(error_data).details) || asText(message) || asText(title);

const OVER =
  'WhatsApp accepts free text only within 24 hours after the last message of the user. Send a message from WhatsApp, then resend this one. Or an admin sets an approved template: adjutant channels setup whatsapp';
/** 470 is the code of the older API, which some gateways still use. */
const LATE: Record<number, string> = { 470: OVER, 131047: OVER };

/** Permanent errors (Meta, error codes of the Cloud API). */
const FINAL: Record<number, string> = {
  ...LATE,
  10: 'The access token lacks the permission whatsapp_business_messaging',
  190: 'WhatsApp rejected the access token. The token is invalid or expired',
  131026:
    'WhatsApp cannot deliver the message. The number is not on WhatsApp, or the WhatsApp app of the recipient is outdated',
  131030: 'A WhatsApp test number can only send to numbers on its recipient list',
  132000:
    'The WhatsApp template must have exactly one parameter in the body and none in the header',
  132001: 'WhatsApp has no approved template with that name and language',
  132005: 'The text is too long for the WhatsApp template. Shorten the fixed text of the template',
  132007: 'WhatsApp does not allow this text in a template',
  132012: 'The WhatsApp template has no parameter with the name in templateParameter',
  132015: 'WhatsApp paused the template because users reported the template',
  132016: 'WhatsApp disabled the template because too many users reported the template',
  133010: 'The phone number is not registered with the Cloud API',
};

/** Temporary errors with the minimum wait in ms, since Meta sends no Retry-After. */
const BUSY: Record<number, number> = {
  4: 60_000,
  80007: 60_000,
  130429: 5_000,
  131000: 10_000,
  131056: 6_000,
  131057: 60_000,
};
