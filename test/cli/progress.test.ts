import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { withProgress } from '../../cli/progress.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('withProgress', () => {
  it('says that it works when that takes long, and takes it back', async () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    const began = performance.now();
    const said = await withProgress(stderr, async () => String(await once(stderr, 'data')));
    const most = (performance.now() - began) / 1000;
    const [, seconds] = /^\r\u001b\[KWorking… (\d+\.\d) s$/.exec(said) ?? [];
    // What it says is rounded. How late a busy machine says it is not asserted.
    expect(Number(seconds)).to.be.between(0.35, most + 0.06);
    expect(String(stderr.read())).to.equal('\r\u001b[K');
  });

  it('says it once, on a line that stays, where it is read aloud', async () => {
    process.env.ADJUTANT_ACCESSIBLE = '1';
    try {
      const stderr = Object.assign(new PassThrough(), { isTTY: true });
      expect(await withProgress(stderr, () => pause(700, 'done'))).to.equal('done');
      expect(String(stderr.read())).to.equal('Working…\n');
    } finally {
      delete process.env.ADJUTANT_ACCESSIBLE;
    }
  });

  it('is one line, also for work within work', async () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    const inner = () => withProgress(stderr, () => pause(700, 'done'));
    expect(await withProgress(stderr, inner, 'Uploading')).to.equal('done');
    expect(String(stderr.read())).not.to.include('Working…');
  });

  it('says nothing of what is quick, and nothing in a pipe', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    const pipe = new PassThrough();
    expect(await withProgress(terminal, async () => 1)).to.equal(1);
    expect(await withProgress(pipe, async () => 2)).to.equal(2);
    expect([terminal.read(), pipe.read()]).to.equal([null, null]);
  });
});
