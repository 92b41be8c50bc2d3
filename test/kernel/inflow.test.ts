import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { BodyStream } from '../../src/kernel/bodystream.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('Inflow', () => {
  let inflow: BodyStream;
  let asked: string[];
  beforeEach(() => {
    asked = [];
    inflow = new BodyStream({
      resume: () => asked.push('more'),
      cancel: () => asked.push('no more'),
    });
  });

  const piece = (text: string): Uint8Array => Buffer.from(text);
  const read = async (): Promise<string | null> => {
    const bytes = await inflow.read();
    return bytes && Buffer.from(bytes).toString();
  };

  it('hands on what waits and what comes, then the end, each time that it is asked', async () => {
    inflow.push(piece('a'));
    expect(await read()).to.equal('a');
    const next = read();
    inflow.push(piece('b'));
    inflow.close();
    expect([await next, await read(), await read()]).to.equal(['b', null, null]);
  });

  it('hands on what came before an error, then the error', async () => {
    inflow.push(piece('a'));
    inflow.close(new Error('broke off'));
    expect(await read()).to.equal('a');
    await expect(read()).to.reject('broke off');
  });

  it('is full where its reader is slow, and asks for more as soon as it is not', async () => {
    inflow.push(piece('x'.repeat(40_000)));
    expect(inflow.isFull).to.be.false();
    for (const text of ['x'.repeat(40_000), 'x']) inflow.push(piece(text));
    expect(inflow.isFull).to.be.true();
    await read();
    expect([inflow.isFull, asked]).to.equal([false, ['more']]);
  });

  it('asks for no more where it is given up, once, and not after the end', async () => {
    inflow.cancel();
    inflow.cancel();
    expect([asked, await read()]).to.equal([['no more'], null]);
  });

  it('is a web stream for who needs one', async () => {
    for (const text of ['a', 'b']) inflow.push(piece(text));
    inflow.close();
    expect(await new Response(inflow.stream()).text()).to.equal('ab');
    const broken = new BodyStream({ resume: () => undefined, cancel: () => asked.push('no more') });
    await broken.stream().cancel();
    expect(asked.at(-1)).to.equal('no more');
  });
});
