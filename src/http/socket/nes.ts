import Boom from '@hapi/boom';
import type { Dialect, SocketClient } from './client.js';
import { checkNes, type NesFrame, requestIdOfFrame } from './frames.js';

type NesHello = Extract<NesFrame, { type: 'hello' }>;

/**
 * Version 2 of nes's protocol. Frames are checked and rebuilt, because some that nes does not check
 * would end the process.
 */
export const nes: Dialect = {
  reply: async (frame, client) => {
    const checked = checkNes(frame);
    const { type, id } = checked;
    switch (checked.type) {
      case 'ping':
        client.connection.answered();
        return undefined;
      case 'hello':
        return { ...(await hello(checked, client)), id };
      case 'sub':
      case 'unsub':
        refuseClosed(checked.path, client);
        return { ...(await client.ask({ type: checked.type, path: checked.path })), id };
      case 'message':
        return { type, id, message: await client.message(checked.message) };
      case 'reauth':
        await client.renew(bearer(checked.auth.headers.authorization));
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
  publicationText: ({ channel, data }) =>
    JSON.stringify({ type: 'pub', path: `/${channel}`, message: data }),
  heartbeat: '{"type":"ping"}',
};

const hello = async ({ version, subs }: NesHello, client: SocketClient): Promise<object> => {
  for (const path of subs ?? []) refuseClosed(path, client);
  const reply = await client.hello(version, subs);
  if (reply.statusCode) return reply;
  // nes's own heartbeat is off, because it considers a socket alive after any write.
  const interval = client.shared.settings.limits.heartbeatMs;
  return { ...reply, heartbeat: { interval, timeout: interval / 3 } };
};

/** The reply contains the path, so that nes's client forgets the subscription. */
const refuseClosed = (path: string, client: SocketClient): void => {
  const channel = path.startsWith('/') ? path.slice(1) : '';
  const refusal = client.refusalOf(channel, 'Subscription not found');
  if (refusal) throw Object.assign(refusal, { data: { path } });
};

const bearer = (authorization: string): string => {
  const token = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (!token) throw Boom.unauthorized('The authorization header must be "Bearer <token>"');
  return token;
};
