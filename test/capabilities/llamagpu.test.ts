import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { FittedModel } from '../../src/capabilities/candidates.js';
import { createHardwareReport } from '../../src/capabilities/hardware.js';
import { llamaGpuUse } from '../../src/capabilities/llamagpu.js';
import type { Gpu, Machine } from '../../src/providers/hardware/machine.js';

export const lab = Lab.script();
const { describe, it } = lab;

const GIB = 2 ** 30;

const NVIDIA: Gpu = {
  vendor: 'nvidia',
  name: 'NVIDIA GeForce RTX 4090',
  vramBytes: 24 * GIB,
  driver: null,
  isUnified: false,
};
const INTEL: Gpu = { ...NVIDIA, vendor: 'intel', name: 'Intel Arc A770', vramBytes: 16 * GIB };

const withGpus = (...gpus: Gpu[]): Machine => ({
  platform: 'linux',
  cpu: { model: 'Some CPU', cores: 8, arch: 'x64', flags: ['avx2'] },
  memory: { totalBytes: 64 * GIB, availableBytes: 48 * GIB },
  gpus,
  disk: { freeBytes: 80 * GIB },
  sources: [],
});

const host = (...gpus: Gpu[]) => ({
  ...{ platform: 'linux' as const, arch: 'x64', isGlibc: true },
  gpus,
});

const OFF =
  'llama uses NVIDIA GeForce RTX 4090 only if ADJUTANT_LLAMA_GPU=true is set. Ollama uses a GPU automatically';
const NO_PROGRAM =
  'llama does not support Intel Arc A770 and runs models on the CPU. Ollama uses a GPU automatically';

const model = (id: string, isForLlama: boolean): FittedModel => ({
  ...{ id, slug: id, name: id, useCases: ['chat'], parameters: 4e9, quantization: 'Q4_K_M' },
  ...{
    contextWindow: 8192,
    bytes: 2 * GIB,
    shape: null,
    workingBytes: 0,
    licence: null,
    isInstalled: false,
  },
  ...{ isForLlama, speedKeys: [], fault: null, reason: null },
});

/** Reports on a machine with these GPUs. */
const report = (isAllowed: boolean, ...gpus: Gpu[]) =>
  createHardwareReport({
    machine: async () => withGpus(...gpus),
    bandwidth: async () => 20 * GIB,
    catalogue: async () => ({
      ...{ source: 'built in', fault: null },
      catalogue: { date: '2026-11-01', models: [] },
    }),
    models: async () => [model('ours', true), model('others', false)],
    speeds: { read: async () => ({}) },
    llama: ({ gpus: found }) => llamaGpuUse(host(...found), isAllowed),
  })({ contextWindow: undefined, useCase: undefined });

describe('the GPU that llama uses', () => {
  it('is one that it has a program for, if the setting allows it', () => {
    expect(llamaGpuUse(host(NVIDIA, INTEL), true)).to.equal({
      ...{ gpus: [NVIDIA], note: null },
    });
    expect(llamaGpuUse(host(NVIDIA), false)).to.equal({ gpus: [], note: OFF });
    expect(llamaGpuUse(host(INTEL), true)).to.equal({ gpus: [], note: NO_PROGRAM });
    expect(llamaGpuUse(host(), true)).to.equal({ gpus: [], note: null });
    const apple = { ...host(INTEL), platform: 'darwin' as const };
    expect(llamaGpuUse(apple, false)).to.equal({ gpus: [INTEL], note: null });
  });

  it('decides where a model of llama is said to run, and no other model', async () => {
    const places = async (isAllowed: boolean, ...gpus: Gpu[]) => {
      const { fit, gpuNote } = await report(isAllowed, ...gpus);
      return [fit.map(({ runsOn }) => runsOn), gpuNote];
    };
    expect(await places(false, NVIDIA)).to.equal([['cpu', 'gpu'], OFF]);
    expect(await places(true, NVIDIA)).to.equal([['gpu', 'gpu'], null]);
    expect(await places(true, INTEL)).to.equal([['cpu', 'gpu'], NO_PROGRAM]);
    expect(await places(true)).to.equal([['cpu', 'cpu'], null]);
  });
});
