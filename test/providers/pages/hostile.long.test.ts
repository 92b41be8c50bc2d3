import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../../src/kernel/http.js';
import { createPageClient } from '../../../src/providers/pages/request.js';
import { frozenClock } from '../../harness/clock.js';
import { type Listening, listen } from '../../kernel/listen.js';
import { HOSTILE_PAGES, outcomeOf } from './hostilepages.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MIB = 1024 * 1024;
const signal = () => new AbortController().signal;
const asker = () => ({ userId: 'ada', signal: signal() });

describe('readPageApart: hostile pages', () => {
  for (const [name, html, outcome] of HOSTILE_PAGES) {
    it(`ends with ${name}`, async () => {
      const body = html();
      const text = await outcomeOf(body);
      expect(text?.slice(0, 2000)).to.match(outcome);
    });
  }

  it('gives up selectors that take forever', async () => {
    const selector = `${':has(~ p ~ p ~ p)'.repeat(10)} ~ p`;
    const css = Array.from({ length: 50 }, (_, at) => `p:nth-child(${at}n)${selector}{color:red}`);
    const page = `<style>${css.join('')}</style>${'<p>x</p>'.repeat(20_000)}`;
    expect(await outcomeOf(page, 3_000)).to.match(/too complex/);
  });
});

describe('createPageClient', () => {
  let http: Http;
  let server: Listening;
  before(async () => {
    server = await listen((request, response) => {
      const path = request.url ?? '';
      response.setHeader('content-type', 'text/html');
      if (path === '/bomb') {
        response.setHeader('content-encoding', 'gzip');
        return response.end(gzipSync(Buffer.alloc(200 * MIB)));
      }
      if (path === '/large') return response.end(Buffer.alloc(50 * MIB, 'x'));
      if (path === '/loop') return response.writeHead(302, { location: '/loop' }).end();
      if (path === '/endless') {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(MIB)));
        };
        response.on('drain', more);
        return more();
      }
      return response.end('<p>here');
    });
    http = createHttp({ allow: [server.entry] });
  });
  after(async () => {
    await http.close();
    await server.close();
  });
  const failure = (url: string) =>
    createPageClient({ http, clock: frozenClock() })(url, asker()).then(
      () => null,
      (error) => `${error.name}: ${error.message}`,
    );

  it('says why a page does not come', async () => {
    for (const path of ['/bomb', '/large', '/endless']) {
      const said = await failure(`${server.origin}${path}`);
      expect(said, path).to.equal('PageFailed: 127.0.0.1: the reply is too large');
    }
    expect(await failure(`${server.origin}/loop`)).to.match(/redirects too many times/);
    expect(await failure('http://127.0.0.1:1/')).to.match(/127\.0\.0\.1 is refused/);
    expect(await failure('http://nowhere.invalid/')).to.match(/the name does not resolve/);
  });
});
