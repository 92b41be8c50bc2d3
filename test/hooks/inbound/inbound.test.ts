import { createSecretKey } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { InboxDeps } from '../../../src/hooks/inbound/accept.js';
import { createInbox } from '../../../src/hooks/inbound/inbound.js';
import type { ReceivingHook } from '../../../src/hooks/inbound/receivinghooks.js';
import { PRESETS } from '../../../src/hooks/senders/presets.js';
import { frozenClock } from '../../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('createInbox', () => {
  it('logs the fault of a hook, which counts as not verified', async () => {
    const logged: unknown[] = [];
    const recipe = {
      ...PRESETS.gitea,
      get header(): never {
        throw new Error('no header');
      },
    };
    const hook: ReceivingHook = {
      ...{ id: 'hook_1', userId: 'user_1', name: 'a', path: 'a', action: 'notify' },
      ...{ isEnabled: true, credentialId: null, row: null },
      secrets: [{ key: createSecretKey(Buffer.from('a secret')), until: null, isOld: false }],
      sender: { name: 'faulty', recipe },
    };
    const deps = {
      ...{ clock: frozenClock(), directory: { onPath: () => [hook] }, store: {} },
      log: { error: (fields: unknown) => logged.push(fields) },
      senders: { snsProof: () => null, unsigned: () => null },
    };
    const inbox = createInbox(deps as unknown as InboxDeps);
    const request = { path: 'a', headers: {}, body: Buffer.from('{}'), url: '/', query: {} };
    expect(await inbox.byPath('a', request)).to.equal({ verdict: 'refused' });
    expect(logged).to.equal([{ hookId: 'hook_1', fault: 'Error: no header' }]);
  });
});
