import Boom from '@hapi/boom';
import { CustomReply, type RawBody, type RequestContext } from '../../kernel/contract/endpoint.js';
import { resource } from '../../kernel/route.js';
import type { PlatformReceiver } from '../inbound.js';
import { messengers } from './contract.js';

export const platformReceiversResource = ({ receiver }: { receiver: PlatformReceiver }) => {
  const receive = async (
    endpoint: 'teamchat' | 'messenger',
    raw: RawBody,
    { address, requestId }: RequestContext,
  ) => {
    const request = { headers: raw.headers, body: raw.bytes };
    const received = await receiver.receive(endpoint, request, { address, requestId });
    if (received.verdict === 'refused') throw closed();
    return new CustomReply(200, received.reply);
  };
  return resource('messengers', messengers, {
    teamchat: ({ raw }, by) => receive('teamchat', raw, by),
    messenger: ({ raw }, by) => receive('messenger', raw, by),
    handshake: async ({ query }) => {
      const reply = receiver.handshake('messenger', query);
      if (reply === null) throw closed();
      return reply;
    },
  });
};

/** The same error for an unconfigured platform and a wrong signature. */
const closed = (): Boom.Boom =>
  Boom.unauthorized(
    'The request has no valid signature of a configured platform. Check the settings of the platform',
  );
