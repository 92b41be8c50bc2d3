import Boom from '@hapi/boom';
import { CustomReply } from '../../kernel/contract/endpoint.js';
import { badRequest, resource } from '../../kernel/route.js';
import type { Headers } from '../../kernel/signature.js';
import type { InboundVerdict, Inbox, Receiving } from '../inbound/inbound.js';
import { queryIn } from '../inbound/query.js';
import { receivers } from './contract.js';

const RETRY_AFTER_S = 30;

const receiverReply = (received: InboundVerdict) => {
  switch (received.verdict) {
    case 'accepted': {
      const { deliveryId, executions } = received;
      return { received: true, accepted: true, hooks: executions.length, deliveryId, executions };
    }
    case 'handshake':
      return handshakeReply(received);
    case 'none_enabled':
      return new CustomReply(200, { received: true, accepted: false, hooks: 0 });
    case 'duplicate': {
      const { deliveryId } = received;
      return new CustomReply(200, { received: true, duplicate: true, deliveryId });
    }
    case 'unreadable':
      throw Boom.badRequest(received.fault.message);
    case 'wrong_type':
    case 'encoded':
      throw Boom.unsupportedMediaType(received.message);
    default:
      throw REFUSALS[received.verdict]();
  }
};

const REFUSALS = {
  unknown: () => Boom.notFound('No hook matches this path. Check the URL of the hook'),
  refused: () =>
    Boom.unauthorized('The signature is missing or does not match. Check the secret of the hook'),
  secret_in_query: () =>
    Boom.badRequest(
      'The query must not contain a token, secret, key or signature, because proxies log it',
      {
        code: 'secret_in_query',
      },
    ),
  bad_handshake: () =>
    Boom.badRequest('Invalid handshake for this sender. Check the sender of the hook', {
      code: 'bad_handshake',
    }),
  busy: () =>
    Boom.tooManyRequests('Delivery backlog is full. The delivery was not stored. Try again later', {
      code: 'delivery_backlog',
      retryAfter: RETRY_AFTER_S,
    }),
};

const handshakeReply = (reply: Extract<InboundVerdict, { verdict: 'handshake' }>) => {
  if ('json' in reply) return new CustomReply(200, reply.json);
  return 'text' in reply
    ? new CustomReply(200, reply.text, { 'content-type': 'text/plain; charset=utf-8' })
    : new CustomReply(204, '');
};

/** Replies like a hook, with the nonce as delivery ID. Nothing is stored. */
const probeReply = (probed: 'refused' | { nonce: string }) => {
  if (probed === 'refused') throw REFUSALS.refused();
  const deliveryId = `probe_${probed.nonce}`;
  return new CustomReply(200, { received: true, accepted: false, hooks: 0, deliveryId });
};

export interface ProbeArrival {
  headers: Headers;
  body: Buffer;
  address: string;
}

export interface ReceiversDeps {
  inbox: Inbox;
  counted(verdict: InboundVerdict['verdict']): void;
  tried(path: string): boolean;
  /** Handles a request of the tunnel check. Null if the path does not belong to a probe. */
  probe(path: string, arrived: () => ProbeArrival): Promise<'refused' | { nonce: string }> | null;
}

export const receiversResource = ({ inbox, counted, tried, probe }: ReceiversDeps) => {
  const reply = async (receiving: Receiving) => {
    const received = await receiving;
    counted(received.verdict);
    return receiverReply(received);
  };
  return resource('receivers', receivers, {
    byPath: ({ path, raw }, context) => {
      const { headers, bytes: body, url } = raw;
      const probed = probe(path, () => ({ headers, body, address: context.address }));
      return probed === null
        ? reply(inbox.byPath(path, { path, headers, body, url, query: queryIn(url) }))
        : probed.then(probeReply);
    },
    incoming: ({ hookId, raw: { headers, bytes: body, url } }) =>
      reply(inbox.byHook(hookId, { headers, body, url, query: queryIn(url) })),
    tryAddress: async ({ path }) => {
      if (!tried(path)) throw Boom.unauthorized('No valid token. Log in first', 'Bearer');
      return { received: true, accepted: false, hooks: 0 };
    },
    challenge: async ({ path: hookPath, query }) => {
      const found = inbox.challenge(hookPath, query['hub.verify_token'] ?? '');
      if (found !== 'handshake') throw REFUSALS[found]();
      const challenge = query['hub.challenge'];
      if (challenge && /^(?:un)?subscribe$/.test(query['hub.mode'] ?? '')) return challenge;
      const path = challenge ? 'hub.mode' : 'hub.challenge';
      throw badRequest([{ path, message: 'is required' }]);
    },
  });
};
