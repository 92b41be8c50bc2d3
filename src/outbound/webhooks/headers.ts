import { unsealOrNull } from '../../kernel/envelope.js';
import { faultOfHeaderValue } from '../../kernel/headervalue.js';
import type { FieldFault } from '../../kernel/problem.js';
import { throwIfFaults } from '../../kernel/route.js';
import type { WebhookRow } from '../../store/tables/outbox.js';

export interface HeaderSealer {
  seal(webhookId: string, headers: string): string;
  unseal(webhookId: string, sealed: string): string;
}

/** null removes a header. */
export type HeaderChanges = Record<string, string | null>;

const MAX_HEADERS = 20;
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/;
/** Connection headers and those sent by the daemon. */
const TAKEN =
  /^(host|connection|content-(length|type)|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|webhook-.*|x-adjutant-hops)$/;

/** Throws 400. Values are never repeated in it. */
export const checkHeaders = (headers: HeaderChanges = {}): void => {
  const faults = Object.entries(headers).map(([name, value]): FieldFault | null => {
    const faultOfValue = value === null ? null : faultOfHeaderValue(value);
    const message = faultOfName(name.toLowerCase()) ?? faultOfValue;
    return message === null ? null : { path: `headers.${name}`, message };
  });
  throwIfFaults(faults.filter((fault) => fault !== null));
};

const faultOfName = (name: string): string | null => {
  if (!TOKEN.test(name)) return 'must be a valid header name (a token of RFC 9110)';
  return TAKEN.test(name) ? 'is a reserved header' : null;
};

/** Throws 400 for too many. Damaged headers are lost and must be set again. */
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
  if (names.length > MAX_HEADERS) {
    throwIfFaults([{ path: 'headers', message: `must have at most ${MAX_HEADERS} headers` }]);
  }
  const sealed = sealer.seal(row.id, JSON.stringify(Object.fromEntries(headers)));
  return {
    headers_sealed: names.length === 0 ? null : sealed,
    header_names: JSON.stringify(names),
  };
};

/** Throws 400 if the origin changes and an existing header is not in the change. */
export const refuseUnlistedHeaders = (
  sealer: HeaderSealer,
  row: Pick<WebhookRow, 'id' | 'url' | 'headers_sealed'>,
  { url = row.url, headers = {} }: { url?: string; headers?: HeaderChanges },
): void => {
  if (new URL(url).origin === new URL(row.url).origin) return;
  const changedNames = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const missing = Object.keys(openHeaders(sealer, row) ?? {}).filter(
    (name) => !changedNames.has(name),
  );
  if (missing.length === 0) return;
  const message = `must contain these headers again, or null, because the origin changes: ${missing.sort().join(', ')}`;
  throwIfFaults([{ path: 'headers', message }]);
};

/** null if damaged. */
export const openHeaders = (
  sealer: Pick<HeaderSealer, 'unseal'>,
  { id, headers_sealed: sealed }: Pick<WebhookRow, 'id' | 'headers_sealed'>,
): Record<string, string> | null => {
  if (sealed === null) return {};
  const text = unsealOrNull(() => sealer.unseal(id, sealed));
  return text === null ? null : JSON.parse(text);
};
