import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type EncodedSite, openEncodedSite } from './encodedsite.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;
const ZEROS = Buffer.alloc(64 * 1024 * 1024);

describe('decodedBody', () => {
  let site: EncodedSite;
  before(async () => {
    site = await openEncodedSite();
  });
  after(() => site.close());

  it('stops at the limit of bytes, wherever a bomb has them', async () => {
    const big = { [constants.BROTLI_PARAM_QUALITY]: 4 };
    const bombs: [string, Buffer][] = [
      ['gzip', gzipSync(ZEROS)],
      ['deflate', deflateSync(ZEROS)],
      ['br', brotliCompressSync(ZEROS, { params: big })],
      ['gzip, gzip', gzipSync(gzipSync(ZEROS))],
      ['br, gzip', gzipSync(brotliCompressSync(ZEROS, { params: big }))],
      // The outer layer is large, the inner one is empty.
      ['gzip, gzip', gzipSync(Buffer.concat(Array(400_000).fill(gzipSync(''))))],
    ];
    const failed = ['too_large', '127.0.0.1: the reply is too large', true];
    for (const [encoding, body] of bombs) {
      expect(body.length, encoding).to.be.below(200_000);
      const since = performance.now();
      expect(await site.failureOf(encoding, body), encoding).to.equal(failed);
      expect(performance.now() - since, encoding).to.be.below(2_000);
    }
    const just = gzipSync(ZEROS.subarray(0, 5 * 1024 * 1024));
    expect(await site.textOf('gzip', just)).to.have.length(5 * 1024 * 1024);
  });
});
