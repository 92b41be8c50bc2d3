import type { RequestListener } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../src/kernel/http.js';
import { readPageInWorker as readPage } from '../../src/providers/pages/pageworker.js';
import { createWebSearch } from '../../src/providers/search/search.js';
import type { ToolContext } from '../../src/tools/tool.js';
import { webTools } from '../../src/tools/web.js';
import { watchLoop } from '../generated/block.js';
import { type Listening, listen } from '../kernel/listen.js';
import { contextOf } from './context.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HTML = `<!doctype html><html><head><title> A &amp; B </title>
<style>p { color: red }</style><script>if (a < b) steal('</p>')</script></head>
<body><!-- <p>not this</p> --><h1>Head&nbsp;line</h1><p>One
two <b>three</b> <a href="/next?a=1&amp;b=2">on</a>.</p>
<ul><li>first<li title="a > b">second &#x2014; &#8364; &unknown; &#xD800;</ul>
<a href="javascript:alert(1)">no</a> 1 < 2 &lt;b&gt;</body></html>`;

const ORDINARY = Buffer.from(
  `<title>T</title>${HTML.replace('Head', 'Gr\xfc\xdfe')}`.repeat(600),
  'latin1',
);
const MAX_BYTES = 5 * 1024 * 1024;
const packed = (html: string) => ({
  headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' },
  body: gzipSync(html),
});
const LARGE = new Map([
  ['/links', packed('<a href=x>'.repeat(MAX_BYTES / 10))],
  ['/signs', packed('<'.repeat(MAX_BYTES))],
]);

/** Ours: the longest turn of the event loop. */
const MAX_TURN_MS = 250;

const answer: RequestListener = (request, response) => {
  const type = (value: string) => response.setHeader('content-type', value);
  switch (new URL(request.url ?? '', 'http://x').pathname) {
    case '/page':
      type('text/html; charset=utf-8');
      return response.end(HTML);
    case '/brotli':
      type('text/html; charset=utf-8');
      response.setHeader('content-encoding', 'br');
      return response.end(brotliCompressSync(HTML));
    case '/led':
      return response.writeHead(302, { location: '/page?a=1' }).end('<p>moved');
    case '/title':
      type('text/html');
      return response.end(`<title>a${'🤑'.repeat(150)}secret</title><p>text`);
    case '/latin':
      type('text/html; charset=iso-8859-1');
      return response.end(Buffer.from('<p>Gr\xfc\xdfe', 'latin1'));
    case '/json':
      type('application/json');
      return response.end('{"a":1}');
    case '/image':
      type('image/png');
      return response.end('png');
    case '/ordinary':
      type('text/html; charset=iso-8859-1');
      return response.end(ORDINARY);
    case '/long':
      type('text/plain; charset=nonsense');
      return response.end('x'.repeat(200_000));
    case '/search': {
      const found = { title: 'T', url: 'https://example.org/', content: 'C', more: 1 };
      const results = [found, null, { url: 'javascript:x' }, { url: 'https://b.example/' }];
      return response.end(JSON.stringify({ query: request.url, results }));
    }
    default:
      response.statusCode = 404;
      return response.end('<p>gone');
  }
};

describe('web', () => {
  let http: Http;
  let server: Listening;
  before(async () => {
    server = await listen((request, response) => {
      const large = LARGE.get(request.url ?? '');
      if (large) response.writeHead(200, large.headers).end(large.body);
      else answer(request, response);
    });
    http = createHttp({ allow: [server.entry] });
  });
  after(async () => {
    await http.close();
    await server.close();
  });
  const searching = (searchUrl: string | null) =>
    createWebSearch({
      http,
      config: { searchProvider: null, searchUrl, searchKey: null },
      key: async () => null,
    });
  const run = async (
    name: string,
    args: Record<string, unknown>,
    searchUrl: string | null = null,
    context: Partial<ToolContext> = {},
  ) => {
    const search = searching(searchUrl);
    const tool = webTools({ http, search, readPage }).tools.find((one) => one.name === name);
    return Object(await tool?.run(args, contextOf(context)));
  };
  const at = (path: string): string => `${server.origin}${path}`;

  it('leaves the event loop to others while it reads a large page', {
    timeout: 120_000,
  }, async () => {
    for (const [path, isRead] of [
      ['/links', /too complex|too deeply/],
      ['/signs', /^<{1000}/],
    ] as const) {
      // What the machine does beside only adds to a turn, so the shortest of some tries counts.
      let least = Number.POSITIVE_INFINITY;
      for (let tried = 0; tried < 3 && least > MAX_TURN_MS; tried++) {
        const loop = watchLoop();
        const text = await run('read', { url: at(path) }).then(
          (result) => result.text,
          (error) => error.message,
        );
        least = Math.min(least, loop.stop().turnMs);
        expect(text, path).to.match(isRead);
      }
      expect(least, path).to.be.below(MAX_TURN_MS);
    }
  });
});
