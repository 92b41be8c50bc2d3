import type { ImapFlow } from 'imapflow';
import { MailFault } from './fault.js';

const MIB = 1024 * 1024;
/** Ours: the most that a server answers to one command; of headers up to 15 MiB are asked for at once. */
const MAX_BYTES = 64 * MIB;
/** Ours: the most messages that a search may find. To sort so many takes a tenth of a second. */
const MAX_FOUND = 250_000;

/** A response that belongs to no command alone (RFC 9051, 7), as imapflow has parsed it. */
interface UntaggedResponse {
  /** The numbers of a search, if that is all there is. */
  numbers?: number[];
  attributes?: unknown[];
}
type ResponseHandler = (response: UntaggedResponse) => Promise<void>;
type HandlerOf = (command: string, attributes?: unknown[]) => ResponseHandler | undefined;

/**
 * Closes a session whose server answers more than was asked for, because that would fill the memory,
 * or hold up the event loop: imapflow makes each number of a range, of which a line of 24 bytes may
 * name 16 million. Returns why it was closed, as a function; null: it was not.
 */
export const limitResponses = (client: ImapFlow, host: string): (() => MailFault | null) => {
  let fault: MailFault | null = null;
  let command: unknown = null;
  let before = 0;
  let found = 0;
  // imapflow has no other place at which a response can be refused before it is handled.
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
    if (name === 'SEARCH' || name === 'ESEARCH') found += countOf(response);
    return found > MAX_FOUND ? `more than ${MAX_FOUND} messages for one search` : null;
  };

  const limited: HandlerOf = (...of) => {
    const handle = handlerOf(...of);
    const name = nameOf(...of);
    // It is sent to a client that goes on where an earlier session ended (RFC 7162); this one never does.
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

/** Returns how many messages a search names, each range with all that it may hold. */
const countOf = ({ numbers, attributes = [] }: UntaggedResponse): number =>
  (numbers?.length ?? 0) + attributes.reduce((sum: number, each) => sum + sizeOf(each), 0);

const sizeOf = (attribute: unknown): number => {
  const { value }: { value?: unknown } = Object.assign({}, attribute);
  if (typeof value !== 'string') return 0;
  return value.split(',', MAX_FOUND + 1).reduce((sum, part) => {
    const [from = '', to = from] = part.split(':');
    return sum + (part.includes(':') ? Math.abs(Number(to) - Number(from)) + 1 : 1);
  }, 0);
};
