import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { boundedLines, failOnErrors, objectLines } from '../../../src/providers/llm/lines.js';
import { ModelFailure } from '../../../src/providers/llm/model.js';

export const lab = Lab.script();
const { describe, it } = lab;

const PIECE = 65_536;

/** A fetch whose reply comes in these pieces. */
const replying =
  (type: string, pieces: Iterable<string>): typeof fetch =>
  async () => {
    const source = pieces[Symbol.iterator]();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const { value, done } = source.next();
        if (done) controller.close();
        else controller.enqueue(Buffer.from(value));
      },
    });
    return new Response(body, { headers: { 'content-type': type } });
  };

const STREAMED = { method: 'POST', body: '{"stream":true}' };
const line = (content: string): string =>
  JSON.stringify({ message: { role: 'assistant', content }, done: false });

describe('boundedLines()', () => {
  const read = async (type: string, pieces: Iterable<string>): Promise<number> =>
    (await (await boundedLines('m', replying(type, pieces))('http://m/')).text()).length;

  it('lets lines pass, however many', async () => {
    const pieces = Array.from({ length: 200 }, () => `${'x'.repeat(PIECE - 1)}\n`);
    expect(await read('text/event-stream', pieces)).to.equal(200 * PIECE);
  });

  it('fails on a line without end', async () => {
    const endless = function* () {
      for (;;) yield 'x'.repeat(PIECE);
    };
    await expect(read('text/event-stream', endless())).to.reject(ModelFailure);
  });

  it('lets a whole JSON reply pass', async () => {
    const pieces = Array.from({ length: 100 }, () => 'x'.repeat(PIECE));
    expect(await read('application/json; charset=utf-8', pieces)).to.equal(100 * PIECE);
  });
});

describe('objectLines()', () => {
  const read = async (pieces: string[], init: RequestInit = STREAMED): Promise<string> =>
    (
      await objectLines({ name: 'm', modelId: 'm' }, replying('application/x-ndjson', pieces))(
        'http://m/',
        init,
      )
    ).text();

  it('puts lines together that came in pieces, whatever the cut', async () => {
    const text = `${line('Tromsø ')}\r\n\n${line('snow')}\n`;
    for (const size of [1, 7, 50]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      );
      const lines = (await read(pieces)).trim().split(/\s*\n/);
      expect(lines).to.equal([line('Tromsø '), line('snow')]);
    }
  });

  it('takes a last line without its end', async () => {
    expect(await read([`${line('a')}\n`, line('b')])).to.equal(`${line('a')}\n${line('b')}\n`);
  });

  for (const [what, text] of [
    ['no JSON', '{"message":'],
    ['no object', '[1]'],
    ['nothing of a message', '{"hello":1}'],
    ['a message without content', '{"message":{}}'],
  ] as const) {
    it(`fails on ${what}`, async () => {
      const failure = await expect(read([`${line('a')}\n${text}\n`])).to.reject(ModelFailure);
      expect(failure).to.include({ kind: 'invalid_reply' });
    });
  }

  it('fails as the server says that it did', async () => {
    const failure = await expect(read(['{"error":"out of memory"}\n'])).to.reject(ModelFailure);
    expect(failure).to.include({ kind: 'server', message: 'm aborted its reply with an error' });
  });

  it('leaves a reply alone that was asked for as one', async () => {
    expect(await read(['{\n"a": 1}'], { method: 'POST', body: '{"stream":false}' })).to.equal(
      '{\n"a": 1}',
    );
  });
});

describe('failOnErrors()', () => {
  const read = async (pieces: string[]): Promise<string> => {
    const fetch = failOnErrors({ name: 'm', modelId: 'm' }, replying('text/event-stream', pieces));
    return (await fetch('http://m/')).text();
  };

  it('fails as the server says that it did', async () => {
    const events = ['data: {"candidates":[]}\n\n', 'data: {"error":{"code":4', '29}}\n\n'];
    const failure = await expect(read(events)).to.reject(ModelFailure);
    expect(failure).to.include({
      kind: 'rate_limited',
      message: 'm aborted its reply with an error',
    });
  });

  it('passes other events on as they came', async () => {
    const events = 'data: {"text":"\\"error\\""}\r\n\r\n: "error"\n\ndata: [DONE]';
    expect(await read([events])).to.equal(events);
  });
});
