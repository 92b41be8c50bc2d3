import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  BodyInterrupted,
  BodyMemoryFull,
  BodyTooLong,
  createBodies,
} from '../../src/kernel/body.js';

export const lab = Lab.script();
const { describe, it } = lab;

const echo = async (body: Buffer): Promise<string> => body.toString();
const streamOf = (...chunks: string[]): PassThrough => {
  const stream = new PassThrough();
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  return stream;
};

describe('bodies', () => {
  it('hands over the whole body and holds it until the work has ended', async () => {
    const bodies = createBodies(100);
    const during = await bodies.hold(streamOf('hello ', 'world'), 100, async (body) => ({
      text: body.toString(),
      held: bodies.held(),
    }));
    expect(during).to.equal({ text: 'hello world', held: 11 });
    expect(bodies.held()).to.equal(0);
  });

  it('hands over an empty body', async () => {
    expect(await createBodies(1).hold(streamOf(), 1, echo)).to.equal('');
  });

  it('refuses a body that is too long, once all of it has come', async () => {
    const bodies = createBodies(100);
    await expect(bodies.hold(streamOf('12345', '67'), 6, echo)).to.reject(BodyTooLong);
    expect(await bodies.hold(streamOf('12345', '6'), 6, echo)).to.equal('123456');
    expect(bodies.held()).to.equal(0);
  });

  it('refuses what does not fit beside the others, and holds nothing of it', async () => {
    const bodies = createBodies(10);
    const slow = new PassThrough();
    const first = bodies.hold(slow, 10, echo);
    slow.write('1234567');
    await expect(bodies.hold(streamOf('8901'), 10, echo)).to.reject(BodyMemoryFull);
    expect(bodies.held()).to.equal(7);
    expect(await bodies.hold(streamOf('890'), 10, echo)).to.equal('890');
    slow.end();
    expect(await first).to.equal('1234567');
    expect(bodies.held()).to.equal(0);
  });

  it('gives back what it held when the client goes away or the work fails', async () => {
    const bodies = createBodies(10);
    const gone = new PassThrough();
    const cut = bodies.hold(gone, 10, echo);
    gone.write('123');
    gone.destroy();
    await expect(cut).to.reject(BodyInterrupted);
    const broken = bodies.hold(streamOf('123'), 10, async () => {
      throw new Error('broken');
    });
    await expect(broken).to.reject('broken');
    expect(bodies.held()).to.equal(0);
  });
});
