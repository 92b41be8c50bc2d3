import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { bubblewrap } from '../../../src/providers/confine/bubblewrap.js';
import { ConfinementFailed } from '../../../src/providers/confine/confinement.js';
import { findConfinement, verifyConfinement } from '../../../src/providers/confine/find.js';
import { unconfined } from '../../../src/providers/confine/unconfined.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const isConfining = await verifyConfinement(bubblewrap(true));

export const lab = Lab.script();
const { describe, it } = lab;

describe('holds', () => {
  it('returns false for one that lets a command look outside', async () => {
    expect(await verifyConfinement(unconfined())).to.be.false();
  });

  it('returns false for one that cannot start a command', async () => {
    const run = async () => {
      throw new ConfinementFailed('no namespaces here');
    };
    expect(await verifyConfinement({ run })).to.be.false();
  });

  it('passes on what it did not expect', async () => {
    const run = async () => {
      throw new TypeError('a mistake');
    };
    await expect(verifyConfinement({ run })).to.reject('a mistake');
  });
});

describe('findConfinement', () => {
  it('prefers bubblewrap, allowed to go without or not (needs bubblewrap)', {
    skip: !isConfining,
  }, async () => {
    const [strict, lax] = [
      await findConfinement({ allowUnconfined: false }),
      await findConfinement({ allowUnconfined: true }),
    ];
    expect([strict?.kind, lax?.kind]).to.equal(['bubblewrap', 'bubblewrap']);
    expect(strict?.detail).to.equal(
      'bubblewrap: own namespaces, no network, limits on processes and memory',
    );
  });

  // Its place is a machine without bubblewrap, where the one above is skipped.
  if (!isConfining && process.platform !== 'darwin') {
    it('returns none where none holds, but for the one that is allowed', async () => {
      expect(await findConfinement({ allowUnconfined: false })).to.be.null();
      expect((await findConfinement({ allowUnconfined: true }))?.kind).to.equal('none');
    });
  }
});
