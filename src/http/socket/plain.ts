import { missing } from '../../kernel/scope.js';
import type { SocketExchange } from './exchange.js';
import { checkPlain, type PlainFrame, requestIdOfFrame } from './frames.js';
import type { Dialect } from './protocol.js';

type SubscriptionFrame = Extract<PlainFrame, { channels: string[] }>;
interface Refused {
  channel: string;
  status: number;
  message: string;
}

/**
 * The frames of PROTOCOL.md, for any client that knows JSON. It sends nes's hello for the client.
 */
export const plainProtocol: Dialect = {
  greet: (exchange) => exchange.hello('2'),
  answer: async (frame, exchange) => {
    const checked = checkPlain(frame);
    if (checked.type !== 'message') return turn(checked, exchange);
    const { content, sessionId, id } = checked;
    return { type: 'message', data: await exchange.message({ content, sessionId }), id };
  },
  fault: (error, frame) => ({
    type: 'error',
    status: error.output.statusCode,
    message: error.output.payload.message,
    id: requestIdOfFrame(frame),
  }),
  publication: (text) => {
    const { path, message } = JSON.parse(text);
    return JSON.stringify({ type: path.slice(1), data: message });
  },
};

const turn = async (
  { type, channels, id }: SubscriptionFrame,
  exchange: SocketExchange,
): Promise<object> => {
  const names = [...new Set(channels)];
  const refused = await Promise.all(names.map((channel) => turnOne(type, channel, exchange)));
  const errors = refused.filter((one) => one !== undefined);
  return {
    type: `${type}d`,
    channels: names.filter((_, at) => !refused[at]),
    ...(errors.length > 0 && { errors }),
    id,
  };
};

const turnOne = async (
  type: SubscriptionFrame['type'],
  channel: string,
  exchange: SocketExchange,
): Promise<Refused | undefined> => {
  if (!exchange.hasChannel(channel)) return { channel, status: 404, message: 'No such channel' };
  const lacked = exchange.lackedFor(channel);
  if (lacked !== null) return { channel, status: 403, message: missing(lacked) };
  const path = `/${channel}`;
  const reply = await exchange.ask({ type: type === 'subscribe' ? 'sub' : 'unsub', path });
  if (!reply.statusCode) return undefined;
  return { channel, status: reply.statusCode, message: reply.payload?.message ?? 'Refused' };
};
