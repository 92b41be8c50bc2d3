import type { KeyObject } from 'node:crypto';
import { type Headers, headerText, isSigned, stripeTime } from '../../kernel/signature.js';
import type { Sender } from '../senders/open.js';
import {
  isBodyTimely,
  isNear,
  isSignedBy,
  readSignedTimestamp,
  type SenderRequest,
} from '../senders/verify.js';
import { parseContentEncoding } from './bodyform.js';
import type { RefusedDelivery } from './contract.js';
import { secretHeaders } from './headers.js';
import type { ReceivingHook } from './receivinghooks.js';

/** Larger bodies are not parsed for a diagnosis. */
const MAX_READ_BYTES = 128 * 1024;
/** Lower than above, because the search for the signed URL computes many digests. */
const MAX_SEARCHED_BYTES = 16 * 1024;
const MAX_SHOWN = 300;

type RefusalReason = Pick<RefusedDelivery, 'reason' | 'message'>;

export const isAddressSigned = (sender: ReceivingHook['sender']): sender is Sender =>
  sender?.recipe.signed?.includes('{url}') === true;

export const rejectionReason = (
  { secrets, sender }: ReceivingHook,
  request: SenderRequest,
  { url, isIncoming }: { url: string; isIncoming: boolean },
): RefusalReason => {
  const { headers, body, now } = request;
  if (secrets.length === 0 && sender?.recipe.algorithm !== 'sns') return NO_SECRET;
  if (!sender) return builtInReason(request, isIncoming);
  const { recipe } = sender;
  if (headerText(headers, recipe.header) === undefined) {
    const message = `The signature header ${recipe.header} is missing`;
    return { reason: 'unsigned', message };
  }
  const time = readSignedTimestamp(recipe, headers);
  if (time !== undefined && !isNear(time, now, recipe.toleranceSeconds)) return CLOCK_SKEW;
  const isReadable = body.length <= MAX_READ_BYTES;
  if (isReadable && !isBodyTimely(recipe, request)) return CLOCK_SKEW;
  if (isAddressSigned(sender)) {
    const keys = secrets.map(({ key }) => key);
    return addressRefusal(sender, body.length <= MAX_SEARCHED_BYTES ? keys : [], {
      ...request,
      path: url,
    });
  }
  if (recipe.algorithm === 'sns') {
    return {
      reason: 'mismatch',
      message: 'The body is not a message of this topic, or its signature is invalid',
    };
  }
  const part =
    recipe.algorithm === 'client-state'
      ? 'The clientState in the body'
      : `The header ${recipe.header}`;
  return mismatch(part, headers);
};

const builtInReason = ({ headers, now }: SenderRequest, isIncoming: boolean): RefusalReason => {
  const isUnsigned = isIncoming ? secretHeaders(headers).length === 0 : !isSigned(headers);
  if (isUnsigned) return UNSIGNED;
  if (!isIncoming) {
    const time = headers['webhook-timestamp'] ?? headers['svix-timestamp'] ?? stripeTime(headers);
    if (time !== '' && !isNear(time, now)) return CLOCK_SKEW;
  }
  return mismatch('The signature or secret', headers);
};

const NO_SECRET: RefusalReason = { reason: 'no_secret', message: 'The hook has no secret' };
const UNSIGNED: RefusalReason = {
  reason: 'unsigned',
  message: 'The request has no known signature header or secret header',
};
const CLOCK_SKEW: RefusalReason = {
  reason: 'not_now',
  message: 'The signed time differs too much from the clock of this machine',
};

const mismatch = (part: string, headers: Headers): RefusalReason => {
  const encoding = parseContentEncoding(headers);
  const cause =
    encoding === null
      ? 'the secret is wrong, or the body was modified in transit'
      : `the secret is wrong, or the body was signed before compression (${encoding})`;
  return { reason: 'mismatch', message: `${part} does not match: ${cause}` };
};

const addressRefusal = (
  { recipe }: Sender,
  keys: KeyObject[],
  { path, ...request }: SenderRequest & { path: string },
): RefusalReason => {
  if (request.url === null) {
    const remedy = 'the daemon has no public URL. Run: adjutant tunnel setup';
    return { reason: 'address', message: `This sender signs the URL, but ${remedy}` };
  }
  const verifies = `this daemon expects ${shown(request.url)}`;
  const signed = otherAddresses(request.headers, request.url, path).find((url) =>
    keys.some((key) => isSignedBy(recipe, key, { ...request, url })),
  );
  if (signed !== undefined) {
    const message = `The sender signed the URL ${shown(signed)}, but ${verifies}`;
    return { reason: 'address', message };
  }
  const causes = 'the URL or the secret is wrong, or the body was modified in transit';
  const message = `The header ${recipe.header} does not match: ${causes}. The sender signs the URL; ${verifies}`;
  return { reason: 'mismatch', message };
};

const shown = (url: string): string => (url.split('?', 1)[0] ?? '').slice(0, MAX_SHOWN);

const otherAddresses = (headers: Headers, verified: string, path: string): string[] => {
  const { host, pathname, search } = new URL(verified);
  const hosts = [host, `${host}:443`, headers.host, headers['x-forwarded-host']].flatMap(
    (each) => each ?? [],
  );
  const tail = pathname.endsWith('/') ? pathname.slice(0, -1) : `${pathname}/`;
  const paths = [path, pathname, pathname + search, tail + search, decoded(path)];
  const all = hosts.flatMap((each) =>
    ['https', 'http'].flatMap((scheme) => paths.map((given) => `${scheme}://${each}${given}`)),
  );
  return [...new Set(all)].filter((url) => url !== verified);
};

const decoded = (path: string): string => {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
};
