import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const CANARY = 'c4nary-that-hangs-on-an-error';
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** The daemon, and in it what breaks it at a signal. */
const entry = ['--import', at('./crasher.js'), at('../harness/serve.js')];

describe('a daemon that breaks', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-crash-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  for (const [how, signal, origin] of [
    ['an exception', 'SIGUSR2', 'uncaughtException'],
    ['a rejection', 'SIGWINCH', 'unhandledRejection'],
  ] as const) {
    it(`by ${how}, says what and where in one line, and nothing that hangs on it`, async () => {
      const daemon = await startDaemon({ home, entry, env: { CANARY } });
      const { code, stderr, stdout } = await daemon.end(signal);
      const { level, err, origin: from, msg } = JSON.parse(stderr);
      expect({ code, level, msg, from }).to.equal({
        ...{ code: 1, level: 'fatal', from: origin },
        msg: 'uncaught exception: the daemon exits',
      });
      expect(err).to.include({
        ...{ type: 'Error', code: 'E_ODD', message: 'It broke: The answer was odd' },
      });
      expect(err.stack).to.contain('crasher');
      expect(stderr + stdout).to.not.contain(CANARY);
    });
  }

  it('by something thrown that is no error, says nothing of it', async () => {
    const daemon = await startDaemon({ home, entry, env: { CANARY } });
    const { code, stderr } = await daemon.end('SIGCONT');
    expect([code, JSON.parse(stderr).err]).to.equal([1, { type: 'object' }]);
    expect(stderr).to.not.contain(CANARY);
  });
});
