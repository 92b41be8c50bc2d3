import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { shapeOfFacts } from '../../src/capabilities/fit/estimate.js';
import { type MachineMemory, placeModel } from '../../src/capabilities/fit/machine.js';
import { computeModelMemory } from '../../src/capabilities/fit/memory.js';
import { estimateSpeed, jointBandwidth } from '../../src/capabilities/fit/tokenrate.js';
import { windowFor } from '../../src/capabilities/fit/window.js';
import type { ModelShape } from '../../src/providers/gguf/shape.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MIB = 1024 ** 2;
const GB = 1e9;

/** Llama 3.1 8B as Q4_K_M: its token embeddings are Q4_K, its output is Q6_K. */
const LLAMA: ModelShape = {
  weightsBytes: 4_912_898_304,
  tokenEmbeddingBytes: 295_501_824,
  outputBytes: 430_940_160,
  layers: 32,
  embeddingLength: 4096,
  feedForwardLength: 14_336,
  vocabularySize: 128_256,
  heads: 32,
  kvHeads: 8,
  keyLength: 128,
  valueLength: 128,
  hasFlashAttention: true,
  sliding: null,
  experts: null,
  recurrentBytes: 0,
  recurrentLength: 0,
};
/** Gemma 3 4B: every sixth layer attends to the whole context; the output is the embeddings. */
const GEMMA: ModelShape = {
  ...LLAMA,
  weightsBytes: 2_480_000_000,
  tokenEmbeddingBytes: 550_502_400,
  outputBytes: 0,
  layers: 34,
  embeddingLength: 2560,
  feedForwardLength: 10_240,
  vocabularySize: 262_144,
  heads: 8,
  kvHeads: 4,
  keyLength: 256,
  valueLength: 256,
  sliding: {
    window: 1024,
    layers: Array.from({ length: 34 }, (_, layer) => layer % 6 !== 5),
    keyLength: 256,
    valueLength: 256,
  },
};

describe('the memory of a model', () => {
  it('has keys and values of each layer for each token', () => {
    const cache = (model: ModelShape, contextWindow: number, kvType?: 'q8_0') =>
      computeModelMemory(model, { contextWindow, ...(kvType && { kvType }) }).kvCacheBytes;
    // llama.cpp prints "KV self size = 1024.00 MiB" for 8,192 tokens: 2 × 32 × 8 × 128 × 2 bytes each.
    expect(cache(LLAMA, 8192)).to.equal(1024 * MIB);
    expect(cache({ ...LLAMA, kvHeads: 32 }, 8192)).to.equal(4096 * MIB);
    expect(cache({ ...LLAMA, kvHeads: 1 }, 8192)).to.equal(128 * MIB);
    // 34 of 32 bits are kept of a number of q8_0.
    expect(cache(LLAMA, 8192, 'q8_0')).to.equal(544 * MIB);
    // The tokens are rounded up to 256.
    expect(cache(LLAMA, 8193)).to.equal((8448 / 8192) * 1024 * MIB);
    // Layers without keys, and values that follow from the keys.
    expect(cache({ ...LLAMA, layers: 4, kvHeads: [0, 8, 0, 8] }, 8192)).to.equal(64 * MIB);
    expect(cache({ ...LLAMA, kvHeads: 1, keyLength: 576, valueLength: 0 }, 8192)).to.equal(
      288 * MIB,
    );
  });

  it('has in layers with a sliding window no more than it and a batch', () => {
    // 5 layers of 32,768 tokens and 29 of 1,024 + 513, rounded up to 1,792; 4,096 bytes a token.
    const { kvCacheBytes } = computeModelMemory(GEMMA, { contextWindow: 32_768 });
    expect(kvCacheBytes).to.equal((5 * 32_768 + 29 * 1792) * 4096);
    // A context that is shorter than the window.
    expect(computeModelMemory(GEMMA, { contextWindow: 512 }).kvCacheBytes).to.equal(
      34 * 512 * 4096,
    );
  });

  it('has the states of recurrent layers, whatever the context', () => {
    const model = { ...LLAMA, kvHeads: 0, recurrentBytes: 7 * MIB };
    const caches = [512, 131_072].map(
      (contextWindow) => computeModelMemory(model, { contextWindow }).kvCacheBytes,
    );
    expect(caches).to.equal([7 * MIB, 7 * MIB]);
  });

  it('has a buffer for the largest step of a batch', () => {
    const buffer = (model: ModelShape, contextWindow: number): number =>
      computeModelMemory(model, { contextWindow }).bufferBytes;
    // llama.cpp prints 266.50 MiB: 512 × (128,256 logits + 2 vectors of 4,096) × 4; and one row of logits.
    expect(buffer(LLAMA, 4096)).to.equal(266.5 * MIB + 128_256 * 4);
    // A batch is no longer than the context.
    expect(buffer(LLAMA, 128)).to.equal(266.5 * 0.25 * MIB + 128_256 * 4);
    // Without flash attention the scores of 32 heads are there: 32 × 8,192 × 512 × 4 bytes, the mask of
    // 32-bit numbers, and twice the vectors of what comes in, queries and keys.
    const slow = { ...LLAMA, hasFlashAttention: false };
    expect(buffer(slow, 8192)).to.equal((512 + 16 + 2 * (8 + 8 + 2)) * MIB + 128_256 * 4);
  });

  it('is divided by layers between GPU and CPU', () => {
    const whole = computeModelMemory(LLAMA, { contextWindow: 8192, gpuLayers: 33 });
    // All but the token embeddings; the CPU makes the mask (8 MiB) and the embeddings of a batch (8 MiB).
    expect(whole).to.include({
      weightsBytes: LLAMA.weightsBytes,
      gpuBytes: LLAMA.weightsBytes - 295_501_824 + 1024 * MIB + 266.5 * MIB,
      cpuBytes: 295_501_824 + 16 * MIB + 128_256 * 4,
    });
    const half = computeModelMemory(LLAMA, { contextWindow: 8192, gpuLayers: 16 });
    const layers = LLAMA.weightsBytes - 295_501_824 - 430_940_160;
    expect(half.gpuBytes).to.equal(layers / 2 + 512 * MIB + 266.5 * MIB);
    expect(half.totalBytes).to.equal(half.gpuBytes + half.cpuBytes);
    expect(half.bufferBytes).to.equal(2 * 266.5 * MIB + 128_256 * 4);
    const none = computeModelMemory(LLAMA, { contextWindow: 8192 });
    expect(none).to.include({ gpuBytes: 0, cpuBytes: none.totalBytes });
  });

  it('is a number that can be told, whatever a file claims', () => {
    const absurd = { ...LLAMA, heads: 2 ** 52, kvHeads: 2 ** 52, keyLength: 2 ** 52 };
    const { kvCacheBytes, bufferBytes, totalBytes } = computeModelMemory(absurd, {
      contextWindow: 8192,
    });
    expect([kvCacheBytes, bufferBytes]).to.equal([2 ** 50, 2 ** 50]);
    expect(Number.isSafeInteger(totalBytes)).to.be.true();
    const machine = { memory: { totalBytes: GB, availableBytes: GB }, gpus: [] };
    const { runsOn, headroomBytes } = placeModel(machine, absurd, 8192);
    expect([runsOn, Number.isSafeInteger(headroomBytes)]).to.equal(['none', true]);
  });

  it('has the embeddings twice where the GPU needs them as the output', () => {
    const { weightsBytes } = computeModelMemory(GEMMA, { contextWindow: 4096, gpuLayers: 35 });
    expect(weightsBytes).to.equal(2_480_000_000 + 550_502_400);
    expect(computeModelMemory(GEMMA, { contextWindow: 4096, gpuLayers: 34 }).weightsBytes).to.equal(
      2_480_000_000,
    );
  });
});

describe('the fit of a model to a machine', () => {
  const machine = (availableGb: number, ...gpus: [gb: number | null, isUnified?: true][]) => ({
    memory: { totalBytes: 16 * GB, availableBytes: availableGb * GB },
    gpus: gpus.map(([gb, isUnified = false]) => ({
      vramBytes: gb === null ? null : gb * GB,
      isUnified,
    })),
  });
  // 4.58 GiB of weights, 1 of cache, 0.26 of buffers: 5.84 GiB; 5.56 of them on a GPU. A layer has
  // 0.153 GiB, so beside a buffer 18 have room in 3.2 GiB.
  const CASES: [name: string, machine: MachineMemory, runsOn: string, why: string][] = [
    [
      'a GPU with room',
      machine(8, [8]),
      'gpu',
      'The model needs 5.6 GiB of the 6.3 GiB that a model may use on the GPU.',
    ],
    [
      'no GPU',
      machine(8),
      'cpu',
      'The model needs 5.8 GiB of the 6.0 GiB of memory that a model may use.',
    ],
    [
      'a GPU of which nobody knows the memory',
      machine(8, [null]),
      'cpu',
      'The model needs 5.8 GiB of the 6.0 GiB of memory that a model may use.',
    ],
    [
      'a small GPU',
      machine(8, [4]),
      'split',
      'With 18 of 32 layers on the GPU, the model needs 3.0 GiB of the 3.2 GiB that a model may use there, and 3.1 GiB of the 6.0 GiB of memory.',
    ],
    [
      'two GPUs',
      machine(8, [4], [4]),
      'gpu',
      'The model needs 5.8 GiB of the 6.3 GiB that a model may use on the GPU.',
    ],
    [
      'memory that is shared with the GPU, counted once',
      machine(8, [16, true]),
      'gpu',
      'The model needs 5.9 GiB of the 6.0 GiB that a model may use of the memory shared with the GPU.',
    ],
    [
      'shared memory that is too little',
      machine(7, [16, true]),
      'none',
      'The model needs 5.8 GiB. A model may use 5.2 GiB of memory.',
    ],
    [
      'a tiny machine',
      machine(0.5),
      'none',
      'The model needs 5.8 GiB. A model may use 381 MiB of memory.',
    ],
    [
      'a GPU in a machine without room',
      machine(0.2, [4]),
      'none',
      'The model needs 5.8 GiB. A model may use 153 MiB of memory and 3.2 GiB on the GPU.',
    ],
  ];

  it('is where it has room, with the reason', () => {
    const found = CASES.map(([name, on]) => {
      const { runsOn, why } = placeModel(on, LLAMA, 8192);
      return [name, runsOn, why];
    });
    expect(found).to.equal(CASES.map(([name, , runsOn, why]) => [name, runsOn, why]));
  });

  it('leaves the rest of what may be used, or tells what is missing', () => {
    const { totalBytes } = computeModelMemory(LLAMA, { contextWindow: 8192 });
    expect(placeModel(machine(8), LLAMA, 8192).headroomBytes).to.equal(
      Math.floor(6.4e9 - totalBytes),
    );
    expect(placeModel(machine(1), LLAMA, 8192).headroomBytes).to.equal(0.8e9 - totalBytes);
    const exact = {
      memory: { totalBytes: 16 * GB, availableBytes: totalBytes / 0.8 },
      gpus: [],
    };
    expect(placeModel(exact, LLAMA, 8192)).to.include({ runsOn: 'cpu', headroomBytes: 0 });
    const gpu = placeModel(machine(8, [8]), LLAMA, 8192);
    expect(gpu).to.include({ gpuLayers: 33, runsOn: 'gpu' });
  });

  it('has the largest window that leaves it where it runs, and half of the memory to others', () => {
    const bytes = (contextWindow: number) =>
      computeModelMemory(LLAMA, { contextWindow }).totalBytes / GB;
    const windowOn = (on: MachineMemory, longest: number | null = 131_072) =>
      windowFor(on, { shape: LLAMA, longest });
    const [long, longer] = [2 * bytes(16_384), 2 * bytes(32_768)];
    expect([windowOn(machine(longer + 0.001)), windowOn(machine(longer - 0.001))]).to.equal([
      ...[32_768, 16_384],
    ]);
    expect([windowOn(machine(long - 0.001)), windowOn(machine(1))]).to.equal([8192, 8192]);
    expect([windowOn(machine(64), 20_000), windowOn(machine(64), 2048)]).to.equal([16_384, 2048]);
    expect(windowOn(machine(64), null)).to.equal(8192);
    // A GPU that has no room for more keeps all layers.
    expect([windowOn(machine(64, [24])), windowOn(machine(64, [8]))]).to.equal([32_768, 8192]);
  });

  it('needs less for a shorter context', () => {
    expect(placeModel(machine(7), LLAMA, 8192).runsOn).to.equal('none');
    expect(placeModel(machine(7), LLAMA, 2048).runsOn).to.equal('cpu');
  });
});

describe('the speed of a model', () => {
  const speed = (model: ModelShape, gpuLayers: number, cpu: number | null, gpu: number | null) =>
    estimateSpeed(model, { contextWindow: 8192, gpuLayers, bandwidth: { cpu, gpu } });
  const rounded = (value: number | null): string | undefined => value?.toFixed(6);
  // Without the embeddings, of which one row is read, and with half of the cache.
  const read = LLAMA.weightsBytes - 295_501_824 + 512 * MIB;

  it('is what is read for a token by seven tenths of the bandwidth', () => {
    expect(rounded(speed(LLAMA, 0, 50e9, null))).to.equal(rounded(35e9 / read));
    expect(rounded(speed(LLAMA, 33, null, 500e9))).to.equal(rounded(350e9 / read));
  });

  it('is the sum of both times where a model is split', () => {
    const onGpu = (read - 430_940_160) / 2;
    const seconds = onGpu / 350e9 + (onGpu + 430_940_160) / 35e9;
    expect(rounded(speed(LLAMA, 16, 50e9, 500e9))).to.equal(rounded(1 / seconds));
  });

  it('is not known where a bandwidth that counts is not', () => {
    expect([speed(LLAMA, 0, null, 500e9), speed(LLAMA, 16, 50e9, null)]).to.equal([null, null]);
  });

  it('is that of the GPUs together, which read one after the other', () => {
    const gpu = (gb: number | null, bandwidth: number | null, isUnified = false) => ({
      ...{ vramBytes: gb && gb * GB, bandwidth: bandwidth && bandwidth * GB, isUnified },
    });
    expect(jointBandwidth([gpu(24, 960)])).to.equal(960 * GB);
    // 8 of 32 GB at 240 GB/s take as long as 24 GB at 720.
    expect(jointBandwidth([gpu(24, 720), gpu(8, 240)])).to.equal(480 * GB);
    expect(jointBandwidth([gpu(24, 720), gpu(8, null)])).to.be.null();
    // Without memory of its own nothing is put on it.
    expect(jointBandwidth([gpu(24, 720), gpu(null, null)])).to.equal(720 * GB);
    expect(jointBandwidth([gpu(null, 200, true)])).to.equal(200 * GB);
    expect(jointBandwidth([])).to.be.null();
  });

  it('counts the experts that are used, and embeddings that are the output', () => {
    const experts = { used: 2, idleBytes: 3 * GB };
    expect(rounded(speed({ ...LLAMA, experts }, 0, 50e9, null))).to.equal(
      rounded(35e9 / (read - 3 * GB)),
    );
    // 29 layers read their window alone.
    const gemma = 2_480_000_000 + (5 * 4096 + 29 * 1024) * 4096;
    expect(rounded(speed(GEMMA, 0, 50e9, null))).to.equal(rounded(35e9 / gemma));
  });
});

describe('the shape of a model whose file is not there', () => {
  const architecture = {
    name: 'llama',
    layers: 32,
    heads: 32,
    kvHeads: 8,
    keyLength: 128,
    valueLength: 128,
    embeddingLength: 4096,
    feedForwardLength: 14_336,
    vocabulary: 128_256,
    slidingWindow: null,
  };
  const facts = { parameters: 8_030_261_248, activeParameters: null, architecture };

  it('is near that of its file', () => {
    const guess = computeModelMemory(shapeOfFacts(facts, 4_920_739_232), { contextWindow: 8192 });
    const real = computeModelMemory(LLAMA, { contextWindow: 8192 });
    expect(guess.totalBytes / real.totalBytes).to.be.within(0.99, 1.01);
    const shape = shapeOfFacts(facts, 4_920_739_232);
    expect(shape.outputBytes).to.equal(shape.tokenEmbeddingBytes);
  });

  it('has no output of its own where the parameters have no room for one', () => {
    const small = { ...architecture, layers: 16, kvHeads: 8, keyLength: 64, valueLength: 64 };
    const oneB = { ...small, embeddingLength: 2048, feedForwardLength: 8192 };
    const shape = shapeOfFacts({ ...facts, parameters: 1_235_814_400, architecture: oneB }, 8e8);
    expect(shape.outputBytes).to.equal(0);
  });

  it('knows windows, experts, and models that keep nothing', () => {
    const of = (more: object, activeParameters: number | null = null) =>
      shapeOfFacts({ ...facts, activeParameters, architecture: { ...architecture, ...more } }, 5e9);
    const { sliding } = of({ layers: 3, slidingWindow: { window: 512, every: 2 } });
    expect(sliding?.layers).to.equal([true, false, true]);
    expect(of({ name: 'nomic-bert' }).kvHeads).to.equal(0);
    expect(of({ name: 'gemma2' }).hasFlashAttention).to.be.false();
    expect(of({}, facts.parameters / 4).experts).to.equal({ used: 1, idleBytes: 3.75e9 });
  });
});
