import type { ServerResponse } from 'node:http';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { HttpFailure } from '../../src/kernel/failure.js';
import { createHttp, type Http, type Outgoing } from '../../src/kernel/http.js';
import { type Listening, listen } from './listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;
const ZEROS = Buffer.alloc(64 * 1024 * 1024);

describe('decodedBody', () => {
  let http: Http;
  let server: Listening;
  let reply: (response: ServerResponse) => void;
  before(async () => {
    server = await listen((_request, response) => reply(response));
    http = createHttp({ allow: [server.entry] });
  });
  after(async () => {
    await http.close();
    await server.close();
  });

  const ask = (more: Partial<Outgoing> = {}) =>
    http.request({ method: 'GET', url: server.origin, isDecoded: true, ...more });
  const replyWith = (encoding: string, body: Buffer | string, status = 200) => {
    reply = (response) => response.writeHead(status, { 'content-encoding': encoding }).end(body);
  };
  const textOf = async (encoding: string, body: Buffer | string): Promise<string> => {
    replyWith(encoding, body);
    return (await ask()).body.toString();
  };
  const failureOf = async (encoding: string, body: Buffer, more = {}) => {
    replyWith(encoding, body);
    const error = await ask(more).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof HttpFailure)) throw new Error('It did not fail as HTTP');
    return [error.kind, error.message, error.effectBegan];
  };

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
      expect(await failureOf(encoding, body), encoding).to.equal(failed);
      expect(performance.now() - since, encoding).to.be.below(2_000);
    }
    const just = gzipSync(ZEROS.subarray(0, 5 * 1024 * 1024));
    expect(await textOf('gzip', just)).to.have.length(5 * 1024 * 1024);
  });
});
