import type { Dialect, SocketClient } from './client.js';
import { checkPlain, type PlainFrame, requestIdOfFrame } from './frames.js';

type SubscriptionFrame = Extract<PlainFrame, { channels: string[] }>;
interface Refused {
  channel: string;
  status: number;
  message: string;
}

export const plainProtocol: Dialect = {
  greet: (client) => client.hello('2'),
  reply: async (frame, client) => {
    const checked = checkPlain(frame);
    if (checked.type !== 'message') return turn(checked, client);
    const { content, sessionId, id } = checked;
    return { type: 'message', data: await client.message({ content, sessionId }), id };
  },
  fault: (error, frame) => ({
    type: 'error',
    status: error.output.statusCode,
    message: error.output.payload.message,
    id: requestIdOfFrame(frame),
  }),
  publicationText: ({ channel, data }) => JSON.stringify({ type: channel, data }),
};

const turn = async (
  { type, channels, id }: SubscriptionFrame,
  client: SocketClient,
): Promise<object> => {
  const names = [...new Set(channels)];
  const refused = await Promise.all(names.map((channel) => turnOne(type, channel, client)));
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
  client: SocketClient,
): Promise<Refused | undefined> => {
  const refusal = client.refusalOf(channel, 'Unknown channel');
  if (refusal) return { channel, status: refusal.output.statusCode, message: refusal.message };
  const path = `/${channel}`;
  const reply = await client.ask({ type: type === 'subscribe' ? 'sub' : 'unsub', path });
  if (!reply.statusCode) return undefined;
  return { channel, status: reply.statusCode, message: reply.payload?.message ?? 'Refused' };
};
