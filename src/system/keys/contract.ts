import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

export const keys = contract({
  rotate: endpoint.post('/api/admin/keys/rotate', {
    summary: 'Rotate the token signing key',
    description:
      'Tokens that were signed with earlier keys stay valid until they expire. No user is logged out.',
    access: 'admin',
    personal: true,
    audit: 'keys.rotate',
    reply: s.object('KeyRotation', {
      keyId: s.id('key'),
      createdAt: s.time(),
      retired: s
        .integer(0, 1_000_000)
        .description('Number of earlier keys that still verify tokens'),
    }),
  }),
});
