import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

export const keys = contract({
  rotate: endpoint.post('/api/admin/keys/rotate', {
    summary: 'Sign tokens with a new key; the old ones verify until their last token has ended',
    access: 'admin',
    personal: true,
    audit: 'keys.rotate',
    reply: s.object('KeyRotation', {
      keyId: s.id('key'),
      createdAt: s.time(),
      retired: s.whole(0, 1_000_000).description('Older keys that still verify'),
    }),
  }),
});
