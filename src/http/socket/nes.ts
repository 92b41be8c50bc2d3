import Boom from '@hapi/boom';
import { missing } from '../../kernel/scope.js';
import type { SocketExchange } from './exchange.js';
import { checkNes, type NesFrame, requestIdOfFrame } from './frames.js';
import type { Dialect } from './protocol.js';

type NesHello = Extract<NesFrame, { type: 'hello' }>;

/**
 * nes's own protocol, version 2, as its client speaks it. Every frame is checked and rebuilt, since
 * several frames that nes does not check would end the process.
 */
export const nes: Dialect = {
  greet: async () => {},
  answer: async (frame, exchange) => {
    const checked = checkNes(frame);
    const { type, id } = checked;
    switch (checked.type) {
      case 'ping':
        exchange.answered();
        return undefined;
      case 'hello':
        return { ...(await hello(checked, exchange)), id };
      case 'sub':
      case 'unsub':
        mustBeOpen(checked.path, exchange);
        return { ...(await exchange.ask({ type: checked.type, path: checked.path })), id };
      case 'message':
        return { type, id, message: await exchange.message(checked.message) };
      case 'reauth':
        await exchange.renew(bearer(checked.auth.headers.authorization));
        return { type, id };
    }
  },
  fault: (error, frame) => ({
    type: frame?.type,
    id: requestIdOfFrame(frame),
    statusCode: error.output.statusCode,
    payload: { error: error.output.payload.error, message: error.output.payload.message },
    path: error.data?.path,
  }),
  heartbeat: '{"type":"ping"}',
};

const hello = async ({ version, subs }: NesHello, exchange: SocketExchange): Promise<object> => {
  for (const path of subs ?? []) mustBeOpen(path, exchange);
  const reply = await exchange.hello(version, subs);
  if (reply.statusCode) return reply;
  // nes's own heartbeat is off, since it considers a socket alive if something was written to it.
  return {
    ...reply,
    heartbeat: { interval: exchange.heartbeatMs, timeout: exchange.heartbeatMs / 3 },
  };
};

/**
 * Refuses a path that the client may not subscribe to. The path goes into the reply, so that nes's
 * client forgets that subscription.
 */
const mustBeOpen = (path: string, exchange: SocketExchange): void => {
  const channel = path.slice(1);
  if (!path.startsWith('/') || !exchange.hasChannel(channel)) {
    throw Boom.notFound('Subscription not found', { path });
  }
  const lacked = exchange.lackedFor(channel);
  if (lacked !== null) throw Boom.forbidden(missing(lacked), { path });
};

const bearer = (authorization: string): string => {
  const token = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (!token) throw Boom.unauthorized('The authorization header is "Bearer <token>"');
  return token;
};
