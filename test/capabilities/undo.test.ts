import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type InstallDeps, installOperation } from '../../src/capabilities/install.js';
import { openInstalledModels } from '../../src/capabilities/installedmodels.js';
import { planInstall } from '../../src/capabilities/plan.js';
import { readSource } from '../../src/capabilities/source.js';
import { systemClock } from '../../src/kernel/clock.js';
import { placeCapability } from '../harness/capability.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('an installation that is cancelled once its files are in their place', () => {
  it('is undone, and registers nothing', async () => {
    const home = await mkdtemp(join(tmpdir(), 'undo-'));
    const slug = await placeCapability(join(home, 'elsewhere'), 'house');
    const source = join(home, 'elsewhere/capabilities');
    const { held } = await readSource(source, []);
    const plan = planInstall(
      { id: `gguf:${slug}` },
      { models: [], held, host: { platform: 'linux', arch: 'x64', isGlibc: true, gpus: [] } },
    );
    if (!('via' in plan)) throw new Error(plan.fault);
    const stop = new AbortController();
    const unloaded: string[] = [];
    const registered: string[] = [];
    const deps = {
      clock: systemClock,
      shelf: openInstalledModels(home),
      unload: async (name: string) => void unloaded.push(name),
      places: { folders: [], source },
      models: {
        register: async () => {
          registered.push(slug);
          return slug;
        },
        faultOf: async () => null,
        // The moment after its files were put in their place.
        renewed: () => stop.abort(new Error('cancelled')),
        fate: { wasCancelled: async () => true, busy: async () => [] },
      },
    } as unknown as InstallDeps;
    const run = installOperation(deps).run({
      ...{ id: 'operation', userId: 'user', checkpoint: null, signal: stop.signal },
      input: { plans: [plan], useCase: 'chat' },
      commit: async () => {},
      refuseForbidden: async () => {},
      progress: () => {},
    });
    await expect(run).to.reject('cancelled');
    expect([unloaded, registered]).to.equal([[slug], []]);
    expect((await readdir(join(home, 'capabilities'))).filter((name) => name === slug)).to.equal(
      [],
    );
    await rm(home, { recursive: true });
  });
});
