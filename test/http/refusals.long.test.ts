import { connect } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign, startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it } = lab;

const HEAD = 'HTTP/1.1\r\nhost: x\r\n';
const BAD = 'The request is not valid HTTP';
const LONG_HEAD = 'The request headers exceed 16384 bytes. Send fewer or shorter headers';
const LONG_EXTENSIONS = 'The chunk extensions are too long. Send the body without chunk extensions';
const CHUNKED = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';

/** What comes over a connection, and the status and message that it gets. */
const REFUSED: [string, number, string][] = [
  ['GARBAGE\r\n\r\n', 400, BAD],
  ['GET /health HTTP/9.9\r\n\r\n', 400, BAD],
  [`GET /health ${HEAD}no colon\r\n\r\n`, 400, BAD],
  [`POST /api/hooks ${HEAD}content-length: 5\r\n${CHUNKED}`, 400, BAD],
  ['GET /health HTTP/1.1\r\n\r\n', 400, 'HTTP/1.1 requires the Host header'],
  [
    'POST /api/webhooks/x HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}',
    400,
    'HTTP/1.1 requires the Host header',
  ],
  [`GET /health ${HEAD}x: ${'x'.repeat(20_000)}\r\n\r\n`, 431, LONG_HEAD],
  [`GET /health ${HEAD}x: ${'x'.repeat(2_000_000)}\r\n\r\n`, 431, LONG_HEAD],
  [`GET /${'x'.repeat(20_000)} ${HEAD}\r\n`, 431, LONG_HEAD],
  // The body of a request that is under way, of hapi and of the fast path.
  [`POST /api/auth/login ${HEAD}${CHUNKED}zz\r\n`, 400, BAD],
  [`POST /api/webhooks/x ${HEAD}${CHUNKED}zz\r\n`, 400, BAD],
  [`POST /api/auth/login ${HEAD}${CHUNKED}1;${'x'.repeat(20_000)}\r\n`, 413, LONG_EXTENSIONS],
];

describe('what Node refuses', () => {
  const app = openForSuite(lab, startApp);

  it('is answered with the one error body', async () => {
    for (const [sent, status, message] of REFUSED) {
      const replies = await exchange(app.url, sent);
      expect(replies.map(problem), sent.slice(0, 80)).to.equal([refusal(status, message)]);
    }
  });

  it('is answered once the request before it has its reply', async () => {
    const { token } = await app.register('ada');
    const read = `GET /api/hooks ${HEAD}authorization: Bearer ${token}\r\n\r\n`;
    for (const sent of [`${read}BAD\r\n\r\n`, `${read}GET / HTTP/1.1\r\nno colon\r\n\r\n`]) {
      const [first, ...rest] = await exchange(app.url, sent);
      expect(first?.status).to.equal(200);
      expect(rest.map(problem)).to.equal([refusal(400, BAD)]);
    }
  });

  it('says of a request that comes too slowly that it did', async () => {
    const type = 'content-type: application/json\r\ncontent-length: 50\r\n\r\n{';
    const slow = [
      `GET /health ${HEAD}x-slow: `,
      `POST /api/auth/login ${HEAD}${type}`,
      `POST /api/webhooks/x ${HEAD}x-hub-signature-256: ${sign('s', '{}')}\r\n${type}`,
    ];
    const replies = await Promise.all(slow.map((sent) => exchange(app.url, sent)));
    for (const [at, reply] of replies.entries()) {
      const late = refusal(
        408,
        'The request was not received within 15 s, or its headers within 10 s. Send the request again',
      );
      expect(reply.map(problem), slow[at]).to.equal([late]);
    }
  });

  it('leaves requests of HTTP/1.0, which need no Host', async () => {
    const [reply] = await exchange(app.url, 'GET /health/live HTTP/1.0\r\n\r\n');
    expect([reply?.status, reply?.body]).to.equal([200, { status: 'live' }]);
  });
});

const NAMES: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Time-out',
  413: 'Request Entity Too Large',
  431: 'Request Header Fields Too Large',
};

const refusal = (statusCode: number, message: string) => ({
  status: statusCode,
  body: { statusCode, error: NAMES[statusCode], message, requestId: 'as in its header' },
});

/** The id of a request is a new one each time, but one. */
const problem = ({ status, headers, body }: Reply) => {
  const id = /^x-request-id: (request_\w{26})$/im.exec(headers)?.[1];
  const isOne = id !== undefined && body.requestId === id;
  return { status, body: { ...body, requestId: isOne ? 'as in its header' : body.requestId } };
};

interface Reply {
  status: number;
  headers: string;
  body: Record<string, unknown>;
}

/** Sends the text as it is, and reads all replies until the other side closes. */
const exchange = (url: string, text: string): Promise<Reply[]> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let came = '';
    socket.setEncoding('utf8').on('data', (piece) => {
      came += piece;
    });
    // What is left of a long request may meet a connection that is closed.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(repliesIn(came)));
    socket.write(text);
  });

const repliesIn = (text: string): Reply[] =>
  text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((each) => each !== '')
    .map((each) => {
      const [headers = '', body = ''] = each.split('\r\n\r\n');
      return { status: Number(headers.split(' ')[1]), headers, body: JSON.parse(body) };
    });
