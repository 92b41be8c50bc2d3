import { contract } from '../../kernel/contract/endpoint.js';
import { id, object, time, whole } from '../../kernel/contract/schema.js';

export const keys = contract({
  rotate: {
    method: 'POST',
    path: '/api/admin/keys/rotate',
    summary: 'Sign tokens with a new key; the old ones verify until their last token has ended',
    access: 'admin',
    personal: true,
    audit: 'keys.rotate',
    reply: object('KeyRotation', {
      keyId: id('key'),
      createdAt: time(),
      retired: whole(0, 1_000_000).description('Older keys that still verify'),
    }),
  },
});
