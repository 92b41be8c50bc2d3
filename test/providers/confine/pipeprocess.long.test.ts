import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { bubblewrap } from '../../../src/providers/confine/bubblewrap.js';
import { verifyConfinement } from '../../../src/providers/confine/find.js';
import { type Ground, ground, processesWith } from './ground.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const hardened = { skip: !(await verifyConfinement(bubblewrap(true))) };

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('a held process', () => {
  let on: Ground;
  beforeEach(async () => {
    on = await ground();
  });
  afterEach(() => on.clear());

  it(
    'is killed at whichever moment of its start, and leaves nothing behind (needs bubblewrap)',
    hardened,
    async () => {
      const mark = `started-${process.pid}`;
      const argv = ['sh', '-c', `sleep 1000; echo ${mark}`];
      for (let round = 0; round < 240; round += 1) {
        const held = await bubblewrap(true).hold({ argv, folder: on.folder, network: false });
        await wait(round % 12);
        held.kill();
        expect(await held.ended).to.equal('it was ended by SIGKILL');
      }
      expect(await processesWith(mark)).to.equal([]);
    },
  );
});
