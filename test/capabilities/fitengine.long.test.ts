import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { computeModelMemory } from '../../src/capabilities/fit/memory.js';
import { describeModel } from '../../src/providers/gguf/header.js';
import { readParts } from '../../src/providers/gguf/parts.js';
import { decoderGguf, text, uint32, vocabularyOf } from '../harness/ggufshapes.js';
import { type GgufContent, type GgufTensor, writeGguf } from '../harness/ggufwriter.js';
import { withEngine } from '../harness/llamaengine.js';
import { loadedMemory, type ReportedMemory } from '../harness/loadedmodel.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const SIZES = {
  50: { embedding: 512, feedForward: 1408, layers: 4, vocabulary: 2000 },
  200: { embedding: 1024, feedForward: 2816, layers: 4, vocabulary: 4000 },
  800: { embedding: 1536, feedForward: 4096, layers: 7, vocabulary: 8000 },
};
const WINDOW: GgufContent['metadata'] = [['gemma3.attention.sliding_window', uint32(512)]];
/** Four ways to keep keys and values. */
const SHAPES = {
  'multi-head': { heads: 8, kvHeads: 8 },
  grouped: { heads: 8, kvHeads: 2 },
  'multi-query': { heads: 8, kvHeads: 1 },
  'sliding window': { heads: 8, kvHeads: 4, architecture: 'gemma3', more: WINDOW },
};
const MB = 1e6;

describe('the memory of a model (needs node-llama-cpp)', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-fit-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Writes the models, loads them, and returns what was estimated and reported of each. */
  const compare = async (models: { name: string; content: GgufContent; contextSize: number }[]) => {
    const loads = models.map(({ content, contextSize }, at) => {
      const path = join(folder, `${at}.gguf`);
      return { bytes: writeGguf(path, content), path, contextSize };
    });
    const reported = await loadedMemory(loads);
    return models.map(({ name, contextSize }, at) => {
      const model = describeModel(readParts([loads[at]!.path]));
      const memory = computeModelMemory(model, { contextWindow: contextSize });
      const estimated = {
        weights: memory.weightsBytes,
        cache: memory.kvCacheBytes,
        buffers: memory.bufferBytes,
      };
      return { name, fileBytes: loads[at]!.bytes, estimated, reported: reported[at]! };
    });
  };

  it('is what llama.cpp allocates, within a tenth', withEngine, async () => {
    const models = Object.entries(SIZES).flatMap(([size, dims]) =>
      Object.entries(SHAPES).map(([name, heads]) => ({
        name: `${size} MB ${name}`,
        content: decoderGguf({ ...dims, ...heads, head: dims.embedding / 8 }),
        contextSize: 4096,
      })),
    );
    const compared = await compare(models);
    console.log(tableOf(compared));
    expect(compared.filter(({ fileBytes, name }) => !isAbout(fileBytes, name))).to.equal([]);
    expect(compared.filter(({ estimated, reported }) => !isNear(estimated, reported))).to.equal([]);
  });

  it('is so for a mixture of experts, and for a recurrent model', withEngine, async () => {
    const mixture = {
      ...SIZES[50],
      ...SHAPES.grouped,
      architecture: 'qwen3moe',
      head: 64,
      feedForward: 256,
      experts: { count: 16, used: 4 },
    };
    const compared = await compare([
      { name: 'experts', content: decoderGguf(mixture), contextSize: 4096 },
      { name: 'recurrent', content: mamba(), contextSize: 4096 },
    ]);
    console.log(tableOf(compared));
    expect(compared.filter(({ estimated, reported }) => !isNear(estimated, reported))).to.equal([]);
    // 3 columns of 1,024 for the convolution and 16 × 1,024 of the state; four layers; 4 bytes.
    expect(compared[1]?.estimated.cache).to.equal((3 * 1024 + 16 * 1024) * 4 * 4);
  });
});

const totalOf = ({ weights, cache, buffers }: ReportedMemory): number => weights + cache + buffers;

const isNear = (estimated: ReportedMemory, reported: ReportedMemory): boolean =>
  Math.abs(totalOf(estimated) / totalOf(reported) - 1) < 0.1 &&
  Math.abs(estimated.cache - reported.cache) < 0.01 * MB &&
  reported.buffers > 0 &&
  reported.weights > 0;

const isAbout = (bytes: number, name: string): boolean =>
  Math.abs(bytes / (Number.parseInt(name, 10) * MB) - 1) < 0.25;

const tableOf = (
  compared: { name: string; estimated: ReportedMemory; reported: ReportedMemory }[],
): string =>
  compared
    .map(({ name, estimated, reported }) => {
      const part = (key: keyof ReportedMemory): string =>
        `${key} ${(estimated[key] / MB).toFixed(1)} of ${(reported[key] / MB).toFixed(1)}`;
      const off = (100 * (totalOf(estimated) / totalOf(reported) - 1)).toFixed(2);
      return `${name}: ${part('weights')}, ${part('cache')}, ${part('buffers')} MB; ${off} %`;
    })
    .join('\n');

/** A model without attention. */
const mamba = (): GgufContent => {
  const [embedding, inner, state, rank, vocabulary] = [512, 1024, 16, 32, 2000];
  const tensor = (name: string, ...dims: number[]): GgufTensor => ({ name, dims, type: 'F32' });
  const layer = (at: number): GgufTensor[] => [
    tensor(`blk.${at}.attn_norm.weight`, embedding),
    tensor(`blk.${at}.ssm_in.weight`, embedding, 2 * inner),
    tensor(`blk.${at}.ssm_conv1d.weight`, 4, inner),
    tensor(`blk.${at}.ssm_conv1d.bias`, inner),
    tensor(`blk.${at}.ssm_x.weight`, inner, rank + 2 * state),
    tensor(`blk.${at}.ssm_dt.weight`, rank, inner),
    tensor(`blk.${at}.ssm_dt.bias`, inner),
    tensor(`blk.${at}.ssm_a`, state, inner),
    tensor(`blk.${at}.ssm_d`, inner),
    tensor(`blk.${at}.ssm_out.weight`, inner, embedding),
  ];
  const own: [string, number][] = [
    ['context_length', 32_768],
    ['embedding_length', embedding],
    ['block_count', 4],
    ['feed_forward_length', 0],
    ['attention.head_count', 0],
    ['ssm.conv_kernel', 4],
    ['ssm.inner_size', inner],
    ['ssm.state_size', state],
    ['ssm.time_step_rank', rank],
  ];
  const metadata: GgufContent['metadata'] = [
    ['general.architecture', text('mamba')],
    ['mamba.attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }],
    ...vocabularyOf(vocabulary),
  ];
  for (const [key, value] of own) metadata.push([`mamba.${key}`, uint32(value)]);
  return {
    metadata,
    tensors: [
      tensor('token_embd.weight', embedding, vocabulary),
      tensor('output_norm.weight', embedding),
      tensor('output.weight', embedding, vocabulary),
      ...[0, 1, 2, 3].flatMap(layer),
    ],
  };
};
