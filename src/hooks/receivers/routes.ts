import Boom from '@hapi/boom';
import { CustomReply } from '../../kernel/contract/endpoint.js';
import { resource } from '../../kernel/route.js';
import type { Headers } from '../../kernel/signature.js';
import type { InboundVerdict, Inbox, Receiving } from '../inbound/inbound.js';
import { receivers } from './contract.js';

const RETRY_AFTER_S = 30;

/** Returns the receiver's reply, as the table in the reliability promises defines it. */
const answerOf = (reception: InboundVerdict) => {
  switch (reception.verdict) {
    case 'accepted': {
      const { deliveryId, executions } = reception;
      return { received: true, accepted: true, hooks: executions.length, deliveryId, executions };
    }
    case 'none_enabled':
      return new CustomReply(200, { received: true, accepted: false, hooks: 0 });
    case 'duplicate':
      return new CustomReply(200, {
        received: true,
        duplicate: true,
        deliveryId: reception.deliveryId,
      });
    default:
      throw refusalOf(reception.verdict);
  }
};

const refusalOf = (verdict: 'unknown' | 'refused' | 'not_json_type' | 'not_json' | 'busy') => {
  switch (verdict) {
    case 'unknown':
      return Boom.notFound('No hook receives here');
    case 'refused':
      return Boom.unauthorized('The signature is missing or does not match');
    case 'not_json_type':
      return Boom.unsupportedMediaType('Send application/json');
    case 'not_json':
      return Boom.badRequest('The body must be a JSON object or array, nested at most 64 deep');
    case 'busy':
      return Boom.tooManyRequests('Too many deliveries wait; nothing was kept of this one', {
        code: 'delivery_backlog',
        retryAfter: RETRY_AFTER_S,
      });
  }
};

/**
 * Replies to a probe like a hook, with the nonce in the place of an id. Nothing is stored of a
 * probe.
 */
const answerProbe = (probed: 'refused' | { nonce: string }) => {
  if (probed === 'refused') throw refusalOf('refused');
  const deliveryId = `probe_${probed.nonce}`;
  return new CustomReply(200, { received: true, accepted: false, hooks: 0, deliveryId });
};

/** A request that reached the path of a probe. */
export interface ProbeArrival {
  headers: Headers;
  body: Buffer;
  /** The client's address, as the trusted proxies report it. */
  address: string;
}

export interface ReceiversDeps {
  inbox: Inbox;
  counted(verdict: InboundVerdict['verdict']): void;
  /**
   * Judges a request of the tunnel's check, which comes from outside; null: the path is not a
   * probe's.
   */
  probe(path: string, arrived: () => ProbeArrival): Promise<'refused' | { nonce: string }> | null;
}

export const receiversResource = ({ inbox, counted, probe }: ReceiversDeps) => {
  const answer = async (receiving: Receiving) => {
    const received = await receiving;
    counted(received.verdict);
    return answerOf(received);
  };
  return resource('receivers', receivers, {
    byPath: ({ path, raw }, visit) => {
      const { headers, bytes: body } = raw;
      const probed = probe(path, () => ({ headers, body, address: visit.address }));
      return probed === null
        ? answer(inbox.byPath(path, { path, headers, body }))
        : probed.then(answerProbe);
    },
    incoming: ({ hookId, raw }) =>
      answer(inbox.byHook(hookId, { headers: raw.headers, body: raw.bytes })),
  });
};
