import { once } from 'node:events';
import * as Net from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { build, Client, type House, knock, origin, until } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HANDSHAKE = [
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
];

describe('the gate of /ws', () => {
  let house: House;
  before(async () => {
    house = await build();
  });
  after(() => house.server.stop());

  it('refuses a socket on another path', async () => {
    const refusal = await knock(house.url.replace('/ws', '/api/agents'), { 'X-Request-Id': 'r-1' });
    expect(refusal?.status).to.equal(404);
    expect(refusal?.headers['x-request-id']).to.equal('r-1');
    expect(refusal?.body).to.equal({
      statusCode: 404,
      error: 'Not Found',
      message: 'No WebSocket endpoint at this path',
      requestId: 'r-1',
    });
  });

  it('refuses no token, a bad one, an endless one and one that has ended', async () => {
    const ended = house.door.sign('user_ended', 'session_ended', 0);
    for (const query of [
      '',
      '?token=',
      '?token=zz',
      `?token=${'x'.repeat(5000)}`,
      `?token=${ended}`,
    ]) {
      const refusal = await knock(house.url + query);
      expect(refusal?.status).to.equal(401);
      expect(refusal?.headers['www-authenticate']).to.equal('Bearer');
      expect(refusal?.body.message).to.equal('A valid token is required');
    }
  });

  it('takes the token from the query or from the header, and a slash at the end', async () => {
    const token = house.door.sign('user_1');
    expect(await knock(`${house.url}?token=${token}`)).to.be.null();
    expect(await knock(`${house.url}/?token=${token}`)).to.be.null();
    expect(await knock(house.url, { Authorization: `Bearer ${token}` })).to.be.null();
  });

  it('refuses several tokens, whichever of them is good', async () => {
    const token = house.door.sign('user_1');
    const [twice, header] = [`?token=${token}&token=`, { Authorization: 'Bearer other' }];
    for (const refusal of [
      await knock(`${house.url}?token=${token}&token=other`),
      await knock(`${house.url}?token=other&token=${token}`),
      await knock(`${house.url}?token=${token}&token=${token}`),
      await knock(`${house.url}${twice}`),
      await knock(`${house.url}?token=${token}`, header),
    ]) {
      expect(refusal?.status).to.equal(400);
      expect(refusal?.body.message).to.equal(
        'Expected one credential, but the request carries several. Send only one credential',
      );
    }
    const same = { Authorization: `Bearer ${token}` };
    expect(await knock(`${house.url}?token=${token}`, same)).to.be.null();
  });

  it('refuses a foreign origin, and admits its own', async () => {
    const url = `${house.url}?token=${house.door.sign('user_1')}`;
    for (const foreign of ['http://evil.local', 'null', `${origin}.evil.local`]) {
      expect((await knock(url, { Origin: foreign }))?.status).to.equal(403);
    }
    expect(await knock(url, { Origin: origin })).to.be.null();
  });

  it('names what is wrong with a handshake', async () => {
    const url = `${house.url}?token=${house.door.sign('user_1')}`;
    const refusal = await knock(url, { 'Sec-WebSocket-Key': 'short' });
    expect(refusal?.status).to.equal(400);
    expect(refusal?.body.message).to.equal('Missing or invalid Sec-WebSocket-Key header');
    const old = await knock(url, { 'Sec-WebSocket-Version': '7' });
    expect(old?.headers['sec-websocket-version']).to.equal('13');
  });

  it('asks for an upgrade where there is none, or another', async () => {
    const refusal = await knock(house.url, { Upgrade: 'h2c' });
    expect(refusal?.status).to.equal(426);
    expect(refusal?.headers.upgrade).to.equal('websocket');
    const page = await house.server.inject('/ws');
    expect(page.statusCode).to.equal(426);
  });

  it('reads what follows the handshake in the same packet', async () => {
    const token = house.door.sign('user_early');
    const socket = Net.connect(Number(house.server.info.port), '127.0.0.1');
    // A masked text frame with the mask 0: {"type":"zz"}
    const frame = Buffer.concat([
      Buffer.from([0x81, 0x8d, 0, 0, 0, 0]),
      Buffer.from('{"type":"zz"}'),
    ]);
    const head = [`GET /ws?token=${token} HTTP/1.1`, ...HANDSHAKE, '', ''].join('\r\n');
    socket.write(Buffer.concat([Buffer.from(head), frame]));
    let heard = '';
    socket.on('data', (chunk) => {
      heard += chunk;
    });
    await until(() => heard.includes('Unknown type'));
    socket.destroy();
  });

  it('lives through a client that resets while its session is looked at', async () => {
    const token = house.door.sign('user_reset');
    const held = house.door.hold(1);
    const socket = Net.connect(Number(house.server.info.port), '127.0.0.1');
    socket.write([`GET /ws?token=${token} HTTP/1.1`, ...HANDSHAKE, '', ''].join('\r\n'));
    await held.arrived;
    socket.resetAndDestroy();
    await once(socket, 'close');
    held.release();
    expect(await knock(`${house.url}?token=${token}`)).to.be.null();
    await until(() => house.sockets.stats().open === 0);
  });

  it('logs no token', async () => {
    const token = house.door.sign('user_logged');
    await knock(`${house.url}?token=${token}`);
    await knock(`${house.url}/other?token=${token}`);
    const text = JSON.stringify(house.lines);
    expect(text).to.contain('ws.refused');
    expect(text).to.contain('ws.opened');
    expect(text).to.not.contain('token.');
  });
});

describe('the caps of /ws', () => {
  it('refuses what is over the cap of a user, also when all knock at once', async () => {
    const house = await build({ limits: { maxPerUser: 3 } });
    const held = house.door.hold(20);
    const url = `${house.url}?token=${house.door.sign('user_1')}`;
    const knocks = Array.from({ length: 20 }, () => knock(url));
    await held.arrived;
    held.release();
    const refusals = (await Promise.all(knocks)).filter((refusal) => refusal !== null);
    expect(refusals.map(({ status }) => status)).to.equal(Array(17).fill(429));
    expect(refusals[0]?.headers['retry-after']).to.equal('5');
    expect(await knock(`${house.url}?token=${house.door.sign('user_2')}`)).to.be.null();
    await house.server.stop();
  });

  it('counts those who still wait among the sockets there are', async () => {
    const house = await build({ limits: { maxConnections: 2 } });
    const url = `${house.url}?token=${house.door.sign('user_1')}`;
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    const held = house.door.hold(1);
    const waiting = knock(url);
    await held.arrived;
    const refusal = await knock(url);
    expect(refusal?.status).to.equal(503);
    expect(refusal?.headers['retry-after']).to.equal('5');
    held.release();
    expect(await waiting).to.be.null();
    client.ws.close();
    await house.server.stop();
  });

  it('answers 503 where the look at the session fails or takes too long', async () => {
    const house = await build({ limits: { identifyMs: 20 } });
    const url = `${house.url}?token=${house.door.sign('user_1')}`;
    const held = house.door.hold(1);
    expect((await knock(url))?.status).to.equal(503);
    held.release();
    house.door.look = () => Promise.reject(new Error('The database is away'));
    const refusal = await knock(url);
    expect(refusal?.status).to.equal(503);
    expect(refusal?.body.message).to.equal('The session could not be verified. Try again later');
    house.door.look = async () => {};
    expect(await knock(url)).to.be.null();
    await house.server.stop();
  });
});

describe('an upgrade to something else', () => {
  const offer = [
    'Connection: Upgrade, HTTP2-Settings, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABk',
  ];
  let house: House;
  before(async () => {
    house = await build();
  });
  after(() => house.server.stop());

  /** Writes the parts one after the other, and reads until the server hangs up. */
  const exchange = async (...parts: string[]): Promise<string> => {
    const socket = Net.connect(Number(house.server.info.port), '127.0.0.1');
    let heard = '';
    socket.on('data', (chunk) => {
      heard += chunk;
    });
    for (const part of parts) await new Promise((done) => socket.write(part, done));
    await once(socket, 'close');
    return heard;
  };

  it('is passed over, and the request answered', async () => {
    const answer = await exchange(
      ['GET /health HTTP/1.1', 'Host: a', ...offer, '', ''].join('\r\n'),
    );
    expect(answer).to.match(/^HTTP\/1.1 200 OK\r\n/);
    expect(answer).to.endWith('{"ok":true}');
  });

  it('keeps the body of the request, whole or in pieces', async () => {
    const head = ['POST /echo HTTP/1.1', 'Host: a', 'Content-Type: application/json', ...offer];
    const sized = [...head, 'Content-Length: 7', '', ''].join('\r\n');
    expect(await exchange(`${sized}{"a":1}`)).to.endWith('{"a":1}');
    expect(await exchange(sized, '{"a"', ':1}')).to.endWith('{"a":1}');
    const chunked = [...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n');
    expect(await exchange(`${chunked}3\r\n{"a\r\n`, '4\r\n":1}\r\n0\r\n\r\n')).to.endWith(
      '{"a":1}',
    );
  });
});
