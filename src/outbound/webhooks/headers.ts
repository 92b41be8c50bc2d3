import { unlessShut } from '../../kernel/envelope.js';
import { faultOfHeaderValue } from '../../kernel/headervalue.js';
import type { FieldFault } from '../../kernel/problem.js';
import { refuseFaults } from '../../kernel/route.js';
import type { WebhookRow } from '../../store/tables/outbox.js';

/** Seals the headers of a webhook, as JSON, and opens them again. */
export interface HeaderSealer {
  seal(webhookId: string, headers: string): string;
  unseal(webhookId: string, sealed: string): string;
}

/** Headers by name; a name with null is taken away. */
export type HeaderChanges = Record<string, string | null>;

/** The most headers of one webhook. */
const MOST = 20;
/** The names of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/;
/** The connection's own headers, and those that the daemon sends. */
const TAKEN =
  /^(host|connection|content-(length|type)|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|webhook-.*|x-adjutant-hops)$/;

/** Throws a 400 that names each header that cannot be sent. No value is repeated in it. */
export const checkHeaders = (headers: HeaderChanges = {}): void => {
  const faults = Object.entries(headers).map(([name, value]): FieldFault | null => {
    const faultOfValue = value === null ? null : faultOfHeaderValue(value);
    const message = faultOfName(name.toLowerCase()) ?? faultOfValue;
    return message === null ? null : { path: `headers.${name}`, message };
  });
  refuseFaults(faults.filter((fault) => fault !== null));
};

const faultOfName = (name: string): string | null => {
  if (!TOKEN.test(name)) return 'must be a valid header name (a token of RFC 9110)';
  return TAKEN.test(name) ? 'is a reserved header' : null;
};

/**
 * Returns the columns of a webhook's headers after a change. Throws a 400 if there are too many.
 * Headers that were damaged are gone: then all are to be given anew.
 */
export const headerColumns = (
  sealer: HeaderSealer,
  row: Pick<WebhookRow, 'id' | 'headers_sealed'>,
  changes: HeaderChanges | undefined,
): Pick<WebhookRow, 'headers_sealed' | 'header_names'> | null => {
  if (changes === undefined) return null;
  const headers = new Map(Object.entries(openHeaders(sealer, row) ?? {}));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) headers.delete(name.toLowerCase());
    else headers.set(name.toLowerCase(), value);
  }
  const names = [...headers.keys()].sort();
  if (names.length > MOST) {
    refuseFaults([{ path: 'headers', message: `must have at most ${MOST} headers` }]);
  }
  const sealed = sealer.seal(row.id, JSON.stringify(Object.fromEntries(headers)));
  return {
    headers_sealed: names.length === 0 ? null : sealed,
    header_names: JSON.stringify(names),
  };
};

/**
 * Throws a 400 if a change leads the webhook to another origin with headers that were given for the
 * present one: each must be in the change, with its value or with null.
 */
export const refuseKeptHeaders = (
  sealer: HeaderSealer,
  row: Pick<WebhookRow, 'id' | 'url' | 'headers_sealed'>,
  { url = row.url, headers = {} }: { url?: string; headers?: HeaderChanges },
): void => {
  if (new URL(url).origin === new URL(row.url).origin) return;
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const kept = Object.keys(openHeaders(sealer, row) ?? {}).filter((name) => !given.has(name));
  if (kept.length === 0) return;
  const message = `must contain these headers again, or null, because the origin changes: ${kept.sort().join(', ')}`;
  refuseFaults([{ path: 'headers', message }]);
};

/** Returns the headers of a webhook, or null if they were damaged. */
export const openHeaders = (
  sealer: Pick<HeaderSealer, 'unseal'>,
  { id, headers_sealed: sealed }: Pick<WebhookRow, 'id' | 'headers_sealed'>,
): Record<string, string> | null => {
  if (sealed === null) return {};
  const text = unlessShut(() => sealer.unseal(id, sealed));
  return text === null ? null : JSON.parse(text);
};
