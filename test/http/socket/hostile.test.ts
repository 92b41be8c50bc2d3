import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { build, Client, type House, knock } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HELLO = '{"type":"hello","id":1,"version":"2"}';
const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;

/** What a first frame can be that is no plain frame, nor nes's hello. */
const first = [
  'null',
  '5',
  '"x"',
  'true',
  '[]',
  '[{"type":"message"}]',
  'zzz',
  '',
  '{}',
  '{"type":5}',
  '{"type":null}',
  '{"type":""}',
  '{"type":"zz"}',
  '{"type":"__proto__"}',
  '{"type":"constructor"}',
  '{"type":"toString"}',
  '{"__proto__":{"type":"message"}}',
  '{"type":"subscribe"}',
  '{"type":"subscribe","channels":{"length":1}}',
  '{"type":"subscribe","channels":[null]}',
  '{"type":"subscribe","channels":["agent.status"],"id":{}}',
  '{"type":"subscribe","channels":["agent.status"],"id":1e999}',
  '{"type":"unsubscribe","channels":[{"toString":1}]}',
  `{"type":"subscribe","channels":${JSON.stringify(Array(10_000).fill('agent.status'))}}`,
  `{"type":"subscribe","channels":${deep}}`,
  `{"type":"message","content":${deep}}`,
  '{"type":"message","content":{"toString":1}}',
  '{"type":"message","content":"x","__proto__":{"admin":true}}',
  '{"type":"sub","id":2,"path":"/agent.status"}',
  '{"type":"reauth","id":1,"auth":{}}',
  '{"type":"ping","id":1}',
];

/** What nes takes on trust, and some of which ends its process: as a first frame, after a hello. */
const ofNes = [
  '{"type":"hello","id":1}',
  '{"type":"hello","id":1,"version":2}',
  '{"type":"hello","version":"2"}',
  '{"type":"hello","id":{},"version":"2"}',
  '{"type":"hello","id":1,"version":"1"}',
  '{"type":"hello","id":1,"version":"2","subs":[5]}',
  '{"type":"hello","id":1,"version":"2","subs":"/agent.status"}',
  '{"type":"hello","id":1,"version":"2","subs":["agent.status"]}',
  '{"type":"hello","id":1,"version":"2","subs":["__proto__"]}',
  `{"type":"hello","id":1,"version":"2","subs":${JSON.stringify(Array(10_000).fill('/x'))}}`,
];
const afterHello = [
  'null',
  '5',
  '[]',
  'zzz',
  HELLO,
  '{"type":"sub","id":2}',
  '{"type":"sub","id":2,"path":5}',
  '{"type":"sub","id":2,"path":"agent.status"}',
  '{"type":"sub","id":2,"path":"/%zz"}',
  '{"type":"sub","id":2,"path":"/agent.status?a=1"}',
  '{"type":"sub","id":2,"path":"__proto__"}',
  '{"type":"sub","id":{},"path":"/agent.status"}',
  '{"type":"sub","path":"/agent.status"}',
  '{"type":"unsub","id":2,"path":"__proto__"}',
  '{"type":"unsub","id":2,"path":"constructor"}',
  '{"type":"unsub","id":2,"path":"/constructor"}',
  '{"type":"request","id":2,"method":"GET","path":5}',
  '{"type":"request","id":2,"method":5,"path":"/x"}',
  '{"type":"request","id":2,"method":"GET","path":"/x","headers":5}',
  '{"type":"request","id":2,"method":"GET","path":"/x","headers":{"a":{"b":1}}}',
  '{"type":"request","id":2,"method":"GET","path":"zz"}',
  '{"type":"request","id":2,"method":"GET","path":"//"}',
  '{"type":"request","id":2,"method":"GET","path":"/x","payload":5}',
  '{"type":"request","id":2,"method":"auth","path":"/nes/auth"}',
  '{"type":"reauth","id":2}',
  '{"type":"reauth","id":2,"auth":"x"}',
  '{"type":"reauth","id":2,"auth":{"headers":"x"}}',
  '{"type":"reauth","id":2,"auth":{"headers":{"authorization":{"a":1}}}}',
  '{"type":"message","id":2}',
  '{"type":"message","id":2,"message":null}',
  '{"type":"message","id":2,"message":"x"}',
  '{"type":"pub","id":2,"path":"/agent.status","message":{}}',
  '{"type":"subscribe","channels":["agent.status"]}',
];
/** Here nes is given good frames, though the client’s held odd things. */
const harmless = [
  '{"type":"hello","id":1,"version":"2","auth":"x"}',
  '{"type":"hello","id":1,"version":"2","auth":{"headers":"x"}}',
  '{"type":"hello","id":1,"version":"2","auth":{"headers":{"authorization":{"a":1}}}}',
  '{"type":"hello","id":1,"version":"2","auth":{"headers":{"authorization":"Bearer other"}}}',
];

describe('hostile frames on /ws', () => {
  let house: House;
  before(async () => {
    // No heartbeat comes between a frame and its reply.
    house = await build({ limits: { frameBurst: 10_000, heartbeatMs: 600_000 } });
  });
  after(() => house.server.stop());

  /** The answer to the last of some frames. */
  const answer = async (...frames: string[]) => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    let last: Record<string, unknown> = {};
    for (const frame of frames) last = await client.ask(frame);
    client.ws.terminate();
    return last;
  };

  it('are answered with an error as a first frame', async () => {
    for (const frame of first) {
      expect(await answer(frame), frame.slice(0, 100)).to.include({ type: 'error', status: 400 });
    }
  });

  it('are answered with an error in nes’s protocol', async () => {
    for (const frame of ofNes) {
      const { statusCode } = await answer(frame);
      expect(Number(statusCode), frame.slice(0, 100)).to.be.between(399, 405);
    }
    for (const frame of afterHello) {
      const { statusCode } = await answer(HELLO, frame);
      expect(Number(statusCode), frame).to.be.between(399, 502);
    }
  });

  it('do not get past the token that the gate has seen', async () => {
    for (const frame of harmless) {
      expect(await answer(frame)).to.include({ type: 'hello', id: 1 });
    }
    expect(house.lines.filter(([event]) => event === 'ws.failed')).to.be.empty();
  });

  it('may come in a crowd', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    for (let n = 0; n < 1000; n++) client.send(first[n % first.length] ?? '');
    for (let n = 0; n < 1000; n++) expect((await client.next()).type).to.equal('error');
    client.ws.terminate();
  });

  it('do not end the process with a cookie of nes’s', async () => {
    const token = house.door.sign('user_1');
    for (const cookie of ['nes=x', 'nes={}', 'nes=Fe26.2**x', 'a=" ;;', '=']) {
      const options = { headers: { cookie } };
      const client = await Client.connect(house.url, token, options);
      expect(await client.ask({ type: 'subscribe', channels: ['agent.status'] })).to.include({
        channels: ['agent.status'],
      });
      client.ws.terminate();
    }
  });

  it('close the socket where they are no frames at all', async () => {
    const closing = async (write: (ws: WebSocket) => void) => {
      const client = await Client.connect(house.url, house.door.sign('user_1'));
      write(client.ws);
      return (await client.closed).code;
    };
    expect(await closing((ws) => ws.send(Buffer.from('x')))).to.equal(1003);
    expect(await closing((ws) => ws.send('x'.repeat(1_000_000)))).to.equal(1009);
    expect(await closing((ws) => ws.send(Buffer.from([0xc3, 0x28]), { binary: false }))).to.equal(
      1007,
    );
  });

  it('leave the service as it was', async () => {
    expect(await knock(`${house.url}?token=${house.door.sign('user_1')}`)).to.be.null();
    const client = await Client.listening(house.url, house.door.sign('user_1'), 'agent.status');
    house.sockets.publish('user_1', 'agent.status', { id: 1 });
    expect(await client.next()).to.equal({ type: 'agent.status', data: { id: 1 } });
    expect(client.ws.readyState).to.equal(WebSocket.OPEN);
  });
});
