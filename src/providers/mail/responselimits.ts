import type { ImapFlow } from 'imapflow';
import { MailFault } from './fault.js';

const MIB = 1024 * 1024;
/** Limit per command; up to 15 MiB of headers are requested at once. */
const MAX_BYTES = 64 * MIB;
/** Sorting so many takes 0.1 s. */
const MAX_FOUND = 250_000;

/** RFC 9051, 7, as parsed by imapflow. */
interface UntaggedResponse {
  numbers?: number[];
  attributes?: unknown[];
}
type ResponseHandler = (response: UntaggedResponse) => Promise<void>;
type HandlerOf = (command: string, attributes?: unknown[]) => ResponseHandler | undefined;

/**
 * Closes a session whose server sends too much, which would fill the memory or block the event
 * loop: imapflow expands ranges, and a line of 24 bytes can name 16 million numbers. Returns a
 * function with the reason; null: not closed.
 */
export const limitResponses = (client: ImapFlow, host: string): (() => MailFault | null) => {
  let fault: MailFault | null = null;
  let command: unknown = null;
  let before = 0;
  let found = 0;
  // imapflow has no other hook before a response is handled.
  const handlerOf: HandlerOf = Reflect.get(client, 'getUntaggedHandler').bind(client);
  const nameOf: (...of: Parameters<HandlerOf>) => string = Reflect.get(
    client,
    'normalizeUntaggedCommand',
  ).bind(client);

  const refuse = (why: string): void => {
    fault ??= new MailFault('excess', host, why);
    client.close();
  };

  const whyRefused = (name: string, response: UntaggedResponse): string | null => {
    const current: unknown = Reflect.get(client, 'currentRequest');
    const { received } = client.stats();
    if (current !== command) [command, before, found] = [current, received, 0];
    if (received - before > MAX_BYTES) return `more than ${MAX_BYTES / MIB} MiB for one command`;
    if (name === 'SEARCH' || name === 'ESEARCH') found += countNumbers(response);
    return found > MAX_FOUND ? `more than ${MAX_FOUND} messages for one search` : null;
  };

  const limited: HandlerOf = (...of) => {
    const handle = handlerOf(...of);
    const name = nameOf(...of);
    // Only for clients that resume a session (RFC 7162).
    if (!handle || name === 'VANISHED') return undefined;
    return async (response) => {
      const why = whyRefused(name, response);
      if (why === null) return handle(response);
      refuse(why);
    };
  };
  Reflect.set(client, 'getUntaggedHandler', limited);
  return () => fault;
};

/** Counts ranges with all numbers. */
const countNumbers = ({ numbers, attributes = [] }: UntaggedResponse): number =>
  (numbers?.length ?? 0) +
  attributes.reduce((sum: number, each) => sum + countAttributeNumbers(each), 0);

const countAttributeNumbers = (attribute: unknown): number => {
  const { value }: { value?: unknown } = Object.assign({}, attribute);
  if (typeof value !== 'string') return 0;
  return value.split(',', MAX_FOUND + 1).reduce((sum, part) => {
    const [from = '', to = from] = part.split(':');
    return sum + (part.includes(':') ? Math.abs(Number(to) - Number(from)) + 1 : 1);
  }, 0);
};
