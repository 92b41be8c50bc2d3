import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { withProgress } from '../../cli/progress.js';
import { untilAtLeast } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('withProgress', () => {
  it('says that it works when that takes long, and takes it back', async () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    const said = await withProgress(stderr, async () => String(await once(stderr, 'data')));
    const [, seconds] = /^\r\u001b\[KWorking… (\d+\.\d) s$/.exec(said) ?? [];
    // How late a busy machine says it is not asserted.
    expect(Number(seconds)).to.be.at.least(0.4);
    expect(String(stderr.read())).to.equal('\r\u001b[K');
  });

  it('says it once, on a line that stays, where it is read aloud', async () => {
    process.env.ADJUTANT_ACCESSIBLE = '1';
    try {
      const stderr = Object.assign(new PassThrough(), { isTTY: true });
      const work = async () => {
        await once(stderr, 'readable');
        return 'done';
      };
      expect(await withProgress(stderr, work)).to.equal('done');
      expect(String(stderr.read())).to.equal('Working…\n');
    } finally {
      delete process.env.ADJUTANT_ACCESSIBLE;
    }
  });

  it('is one line, also for work within work', async () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    let said = '';
    stderr.on('data', (text) => {
      said += text;
    });
    // A line within the line would have been written by the second beat.
    const work = () => untilAtLeast(async () => said.split('Uploading').length, 3);
    await withProgress(stderr, () => withProgress(stderr, work), 'Uploading');
    expect(said).not.to.include('Working…');
  });

  it('says nothing of what is quick, and nothing in a pipe', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    const pipe = new PassThrough();
    expect(await withProgress(terminal, async () => 1)).to.equal(1);
    expect(await withProgress(pipe, async () => 2)).to.equal(2);
    expect([terminal.read(), pipe.read()]).to.equal([null, null]);
  });
});
