import type { UnderlyingSource } from 'node:stream/web';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { watchResponses } from '../../../src/providers/mcp/watch.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('watched()', () => {
  let broken: string[];
  beforeEach(() => {
    broken = [];
  });

  /** The answer to a POST whose body is that stream. */
  const answered = async (source: UnderlyingSource<Uint8Array>): Promise<Response> => {
    const fetch = async () => new Response(new ReadableStream(source));
    const post = watchResponses(fetch, ({ message }) => broken.push(message));
    return post('http://server.test/mcp', { method: 'POST' });
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('hands on an answer as it comes', async () => {
    const reply = await answered({
      start: (sink) => {
        for (const text of ['whole', ' answer']) sink.enqueue(Buffer.from(text));
        sink.close();
      },
    });
    expect([await reply.text(), broken]).to.equal(['whole answer', []]);
  });

  it('tells of half an answer', async () => {
    const reply = await answered({ pull: (sink) => sink.error(new Error('cut off')) });
    await expect(reply.text()).to.reject('cut off');
    expect(broken).to.equal(['cut off']);
  });

  it('tells nothing where the one who asked wants no more', async () => {
    let isEnded = false;
    const reply = await answered({
      start: (sink) => sink.enqueue(Buffer.from('all that was asked for')),
      cancel: () => {
        isEnded = true;
      },
    });
    const reader = reply.body?.getReader();
    await reader?.read();
    await settled();
    await reader?.cancel();
    await settled();
    expect([isEnded, broken]).to.equal([true, []]);
  });

  it('tells of a POST without an answer, after the one who asked has heard of it', async () => {
    const fetch = () => Promise.reject(new Error('refused'));
    const post = watchResponses(fetch, ({ message }) => broken.push(message));
    await expect(post('http://server.test/mcp', { method: 'POST' })).to.reject('refused');
    expect(broken).to.equal([]);
    await settled();
    expect(broken).to.equal(['refused']);
  });
});
