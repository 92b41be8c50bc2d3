import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { removeCapability } from '../../src/capabilities/removal.js';
import { beginInstallation, type CapabilitiesDeps } from '../../src/capabilities/service.js';
import type { Recorder } from '../../src/kernel/contract/audit.js';
import type { Caller } from '../../src/kernel/contract/endpoint.js';
import { placeCapability } from '../harness/capability.js';
import { type CapabilityStage, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('a deletion', () => {
  let stage: CapabilityStage;
  beforeEach(async () => {
    stage = await startCapabilities({ config: { capabilitySource: null } });
  });
  afterEach(() => stage.stop());

  it('of one capability happens once, and the others do not find it', async () => {
    const slug = await placeCapability(stage.home, 'house');
    const all = await Promise.all(
      Array.from({ length: 5 }, () => stage.ask('DELETE', `/api/capabilities/${slug}?force=true`)),
    );
    expect(all.map(({ status }) => status).sort()).to.equal([204, 404, 404, 404, 404]);
  });
});

describe('an installation that begins during the deletion of its engine', () => {
  it('waits for its end, and installs the engine again', async () => {
    const here = new Set(['llama']);
    const began: string[][] = [];
    let release = () => {};
    let reach = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const deps = {
      store: { transact: async () => [] },
      shelf: {
        list: async () => [],
        find: async (slug: string) =>
          here.has(slug) ? { slug, folder: '/nowhere', files: [] } : null,
        remove: async (slug: string) => void here.delete(slug),
      },
      registry: { list: () => [], find: () => undefined },
      survey: {
        known: async () => ({
          ...{ catalogue: { models: [] }, source: null, installed: [], installing: [] },
          ...{ languages: [], ollama: { models: [], fault: null }, usedBy: () => [] },
          host: { platform: 'linux', arch: 'x64', isGlibc: true, gpus: [] },
          machine: { memory: { totalBytes: null, availableBytes: null } },
        }),
        pulled: async () => [],
        installing: async () => [],
        needed: async () => {
          reach();
          await released;
          return began.flat();
        },
        checking: async () => [],
      },
      ends: { unload: async () => {} },
      // Its packages come from a folder, so that no npm is needed.
      places: { folders: [], source: '/nowhere' },
      operations: {
        install: {
          begin: async ({ input }: { input: { plans: { slug: string }[] } }) => {
            began.push(input.plans.map(({ slug }) => slug));
            return {};
          },
        },
      },
    } as unknown as CapabilitiesDeps;
    const by = {
      userId: 'user',
      role: 'admin',
      scopes: null,
      record: () => [],
    } as unknown as Caller & Recorder;
    const removed = removeCapability(deps, { slug: 'llama', isForced: true }, by);
    await reached;
    const house = { id: 'gguf:house', url: 'https://example.org/m.gguf', sha256: 'ab'.repeat(32) };
    const begun = beginInstallation(deps, house, by);
    // Ends at once where it does not wait.
    await Promise.race([begun, new Promise((resolve) => setImmediate(resolve))]);
    release();
    await removed;
    await begun;
    expect([...here, ...began]).to.equal([['llama', 'house']]);
  });
});
