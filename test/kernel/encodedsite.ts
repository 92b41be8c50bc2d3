import type { ServerResponse } from 'node:http';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import { HttpFailure } from '../../src/kernel/failure.js';
import { createHttp, type Outgoing } from '../../src/kernel/http.js';
import { listen } from './listen.js';

/** A server whose replies are encoded, and a client that decodes them. */
export const openEncodedSite = async () => {
  const server = await listen((_request, response) => site.reply(response));
  const http = createHttp({ allow: [server.entry] });
  const site = {
    server,
    reply: (response: ServerResponse): unknown => response.end(),
    ask: (more: Partial<Outgoing> = {}) =>
      http.request({ method: 'GET', url: server.origin, isDecoded: true, ...more }),
    replyWith: (encoding: string, body: Buffer | string, status = 200): void => {
      site.reply = (response) =>
        response.writeHead(status, { 'content-encoding': encoding }).end(body);
    },
    textOf: async (encoding: string, body: Buffer | string): Promise<string> => {
      site.replyWith(encoding, body);
      return (await site.ask()).body.toString();
    },
    failureOf: async (encoding: string, body: Buffer, more = {}) => {
      site.replyWith(encoding, body);
      const error = await site.ask(more).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (!(error instanceof HttpFailure)) throw new Error('It did not fail as HTTP');
      return [error.kind, error.message, error.effectBegan];
    },
    stop: async (): Promise<void> => {
      await http.close();
      await server.close();
    },
  };
  return site;
};

export type EncodedSite = Awaited<ReturnType<typeof openEncodedSite>>;

export const ZEROS = Buffer.alloc(64 * 1024 * 1024);

/** Sends bombs, which are all refused at the limit of bytes. Resolves to the time of each by `now`. */
export const expectBombsStopped = async (
  site: EncodedSite,
  now = () => 0,
): Promise<{ encoding: string; ms: number }[]> => {
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
  const took: { encoding: string; ms: number }[] = [];
  for (const [encoding, body] of bombs) {
    expect(body.length, encoding).to.be.below(200_000);
    const since = now();
    expect(await site.failureOf(encoding, body), encoding).to.equal(failed);
    took.push({ encoding, ms: now() - since });
  }
  const just = gzipSync(ZEROS.subarray(0, 5 * 1024 * 1024));
  expect(await site.textOf('gzip', just)).to.have.length(5 * 1024 * 1024);
  return took;
};
