import Boom from '@hapi/boom';
import type { Caller } from './endpoint.js';
import { refusalOf } from './scope.js';

const APPROVE = { method: 'POST', path: '/api/chat/approve' } as const;

/** Who says something that may be an answer to an approval, and from where. */
export const speakerOf = (by: Caller) => ({
  ...{ userId: by.userId, address: by.address, requestId: by.requestId },
  mayAnswer: () => mustApprove(by),
});

/** 403 where the caller may not answer approvals, by whatever words: see `POST /api/chat/approve`. */
export const mustApprove = (by: Pick<Caller, 'scopes' | 'tokenId' | 'impersonator'>): void => {
  const refusal = refusalOf(by, APPROVE);
  if (refusal) throw Boom.forbidden(refusal.message, { code: refusal.code });
};
