import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { HttpFailure } from '../../src/kernel/failure.js';
import type { Outgoing } from '../../src/kernel/http.js';
import { openForSuite } from '../harness/suite.js';
import { expectBombsStopped, openEncodedSite, ZEROS } from './encodedsite.js';

export const lab = Lab.script();
const { describe, it } = lab;

const TEXT = 'Grüße, one two three. '.repeat(5_000);

describe('decodedBody', () => {
  const site = openForSuite(lab, openEncodedSite);

  it('undoes each encoding, and several in their order', async () => {
    const both = gzipSync(brotliCompressSync(TEXT));
    const encoded: [string, Buffer | string][] = [
      ['gzip', gzipSync(TEXT)],
      ['x-gzip', gzipSync(TEXT)],
      ['GZip', Buffer.concat([gzipSync(TEXT.slice(0, 100)), gzipSync(TEXT.slice(100))])],
      ['br', brotliCompressSync(TEXT)],
      ['deflate', deflateSync(TEXT)],
      ['deflate', deflateSync(TEXT, { level: 0 })],
      ['deflate', deflateRawSync(TEXT)],
      ['br, gzip', both],
      ['identity, br ,, GZIP', both],
      ['deflate, br, gzip', gzipSync(brotliCompressSync(deflateRawSync(TEXT)))],
      ['identity', TEXT],
      ['', TEXT],
    ];
    for (const [encoding, body] of encoded) {
      expect(await site.textOf(encoding, body), encoding).to.equal(TEXT);
    }
  });

  it('undoes a body that comes byte by byte', async () => {
    const zipped = deflateRawSync('small');
    site.reply = async (response) => {
      response.writeHead(200, { 'content-encoding': 'deflate' });
      for (const byte of zipped) {
        response.write(Buffer.of(byte));
        await setImmediate();
      }
      response.end();
    };
    expect((await site.ask()).body.toString()).to.equal('small');
  });

  it('takes a reply without a body for empty, whatever its encoding', async () => {
    for (const encoding of ['gzip', 'br', 'zstd']) {
      site.replyWith(encoding, '');
      expect((await site.ask({ method: 'HEAD' })).body.length).to.equal(0);
      expect((await site.ask()).body.length).to.equal(0);
      site.replyWith(encoding, '', 304);
      expect((await site.ask()).status).to.equal(304);
    }
  });

  it('asks for what it undoes, unless the caller asks for something else or for a part', async () => {
    const asked = async (more: Partial<Outgoing>) => {
      site.replyWith('identity', '');
      await site.ask(more);
      return site.server.got.at(-1)?.headers['accept-encoding'];
    };
    expect(await asked({})).to.equal('br, gzip, deflate');
    expect(await asked({ headers: { 'Accept-Encoding': 'identity' } })).to.equal('identity');
    expect(await asked({ headers: { Range: 'bytes=0-9' } })).to.equal(undefined);
    expect(await asked({ isDecoded: false })).to.equal(undefined);
  });

  it('fails with the name of an encoding that it does not know', async () => {
    const sentence = '127.0.0.1: the reply has an unsupported content-encoding';
    const failed = (detail: string) => ['unknown_encoding', `${sentence} (${detail})`, true];
    const zipped = gzipSync(TEXT);
    expect(await site.failureOf('zstd', zipped)).to.equal(failed('zstd'));
    expect(await site.failureOf('compress, gzip', zipped)).to.equal(failed('compress'));
    expect(await site.failureOf('<b>\'"; x', zipped)).to.equal(failed('bx'));
    expect(await site.failureOf('gzip,gzip,gzip,gzip', zipped)).to.equal(failed('4 encodings'));
  });

  it('fails where a body is not what its encoding says, or is cut off', async () => {
    const sentence = '127.0.0.1: the reply does not match its content-encoding';
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const failed = ['undecodable', `${sentence} (${encoding})`, true];
      expect(await site.failureOf(encoding, Buffer.from('this is no such thing'))).to.equal(failed);
    }
    const cut = gzipSync(TEXT).subarray(0, 60);
    expect(await site.failureOf('gzip', cut)).to.equal(['undecodable', `${sentence} (gzip)`, true]);
  });

  it('stops at the limit of bytes, wherever a bomb has them', async () => {
    await expectBombsStopped(site);
  });

  it('takes what is enough of a bomb', async () => {
    site.replyWith('gzip', gzipSync(ZEROS));
    expect((await site.ask({ enoughBytes: 1_000 })).body).to.have.length(1_000);
  });

  it('says with its failure what had come before', async () => {
    const zipped = gzipSync(Buffer.concat([Buffer.from(TEXT), ZEROS]));
    site.replyWith('gzip', zipped);
    const failed = await site.ask({ maxBytes: 200_000 }).catch((error: HttpFailure) => error.begun);
    expect(Object(failed).body.toString().slice(0, 6)).to.equal('Grüße,');
  });
});
