import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { InboxDeps } from '../../../src/hooks/inbound/accept.js';
import { createAccept } from '../../../src/hooks/inbound/accept.js';
import { selectVerifiedHooks } from '../../../src/hooks/inbound/candidates.js';
import type { ReceivingHook } from '../../../src/hooks/inbound/receivinghooks.js';
import { resolveSender } from '../../../src/hooks/senders/open.js';
import { frozenClock } from '../../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

const topicArn = 'arn:aws:sns:us-east-1:123456789012:MyTopic';
const hook: ReceivingHook = {
  ...{ id: 'hook_1', userId: 'user_1', name: 'a', path: 'a', action: 'notify', isEnabled: true },
  ...{ secrets: [], credentialId: null, row: null },
  sender: resolveSender({ preset: 'sns', topicArn }),
};

describe('createAccept', () => {
  it('claims a message of SNS by the digest of what is signed, not of its body', async () => {
    const claims: unknown[] = [];
    const store = {
      call: async (_name: string, [, claim]: [unknown, unknown]) => {
        claims.push(claim);
        return [[], null, []];
      },
    };
    const deps = {
      ...{ store, clock: frozenClock(), directory: { onPath: () => [hook] } },
      ...{ queue: { accepted: () => undefined }, prepare: () => null },
    };
    const accept = createAccept(deps as unknown as InboxDeps);
    const proof = { at: 0, scheme: 'sender' as const, digest: 'of what is signed' };
    const verified = selectVerifiedHooks([{ hook, secrets: [] }], [proof]);
    for (const text of ['{"a":1}', '{"a":2}']) {
      const arrival = { path: 'a', headers: {}, body: Buffer.from(text), url: '', query: {} };
      const payload = { text, id: null, type: null, at: { 'body.MessageId': 'id 1' } };
      await accept(verified, arrival, { ...payload, digest: 'of the body' });
    }
    expect(claims).to.equal(Array(2).fill(['id 1', 'of what is signed']));
  });
});
