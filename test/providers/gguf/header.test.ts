import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { describeModel, type GgufHeader } from '../../../src/providers/gguf/header.js';
import { listGgufParts, readParts } from '../../../src/providers/gguf/parts.js';
import {
  decoderGguf,
  SMALL_DECODER,
  text,
  uint32,
  vocabularyOf,
} from '../../harness/ggufshapes.js';
import {
  type GgufContent,
  type GgufTensor,
  type GgufValue,
  writeGguf,
} from '../../harness/ggufwriter.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const texts = (...values: string[]): GgufValue => ({ type: 'array', of: 'string', values });
const numbers = (...values: number[]): GgufValue => ({ type: 'array', of: 'uint32', values });
const tensor = (name: string, ...dims: number[]): GgufTensor => ({ name, dims, type: 'F32' });

describe('the header of a GGUF file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-gguf-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const headerOf = (content: GgufContent): GgufHeader => {
    const path = join(folder, 'model.gguf');
    writeGguf(path, content);
    return describeModel(readParts(listGgufParts(path)));
  };
  const faultOf = (content: GgufContent): string => {
    const path = join(folder, 'model.gguf');
    writeGguf(path, content);
    try {
      return JSON.stringify(describeModel(readParts(listGgufParts(path))));
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : '';
    }
  };

  it('says what memory depends on', () => {
    const content = decoderGguf({ ...SMALL_DECODER, type: 'Q8_0' });
    // Two tables of 300 × 64; a layer: 64 × (64 + 32 + 32 + 64) + 3 × 64 × 96; 34 bytes for 32 numbers.
    const matrices = 2 * 19_200 + 2 * (12_288 + 18_432);
    const norms = 64 + 2 * 2 * 64;
    expect(headerOf(content)).to.include({
      parameters: matrices + norms,
      weightsBytes: (matrices / 32) * 34 + norms * 4,
      tokenEmbeddingBytes: (19_200 / 32) * 34,
      outputBytes: (19_200 / 32) * 34,
      layers: 2,
      heads: 4,
      kvHeads: [2, 2],
      keyLength: 16,
      valueLength: 16,
      embeddingLength: 64,
      feedForwardLength: 96,
      vocabularySize: 300,
      hasFlashAttention: true,
      sliding: null,
      experts: null,
      recurrentBytes: 0,
      recurrentLength: 0,
    });
  });

  it('says what people want to know', () => {
    const more: GgufContent['metadata'] = [
      ['general.file_type', uint32(15)],
      ['general.license', text('apache-2.0')],
      ['general.languages', texts('en', 'de')],
      ['tokenizer.chat_template', text('{% if tools %}{{ tools }}{% endif %}')],
    ];
    expect(headerOf(decoderGguf({ ...SMALL_DECODER, type: 'Q8_0', more }))).to.include({
      architecture: 'llama',
      name: 'Zeros',
      contextLength: 32_768,
      quantization: 'Q4_K_M',
      licence: 'apache-2.0',
      languages: ['en', 'de'],
      hasChatTemplate: true,
      hasTools: true,
      pooling: null,
      isEmbedding: false,
    });
  });

  it('takes the type of most weights where none is named, and the length of heads from the vectors', () => {
    const content = decoderGguf({ ...SMALL_DECODER, type: 'Q4_0' });
    const metadata = content.metadata.filter(([key]) => !/(key|value)_length$/.test(key));
    const header = headerOf({ ...content, metadata });
    expect(header).to.include({ quantization: 'Q4_0', keyLength: 16, valueLength: 16 });
    expect(header).to.include({ hasChatTemplate: false, hasTools: false, licence: null });
  });

  it('knows the layers with a sliding window as llama.cpp does', () => {
    const window = (architecture: string, layers: number, ...more: [string, GgufValue][]) =>
      headerOf(
        decoderGguf({
          ...SMALL_DECODER,
          layers,
          architecture,
          more: more.map(([key, value]) => [`${architecture}.attention.${key}`, value]),
        }),
      ).sliding;
    const named: [string, GgufValue] = ['sliding_window', uint32(512)];
    const yes = true;
    expect(window('gemma3', 7, named)).to.equal({
      window: 512,
      layers: [yes, yes, yes, yes, yes, false, yes],
      keyLength: 16,
      valueLength: 16,
    });
    expect(window('gemma3', 7)).to.be.null();
    expect(window('gemma2', 3)).to.include({ window: 4096, layers: [yes, false, yes] });
    expect(window('cohere2moe', 5, named)?.layers).to.equal([false, yes, yes, yes, false]);
    // llama.cpp takes no notice of the window of these.
    expect(window('llama', 2, named)).to.be.null();
    expect(window('phi3', 2, named)).to.be.null();
    const pattern: GgufValue = { type: 'array', of: 'bool', values: [true, false] };
    expect(
      window(
        'gemma4',
        2,
        named,
        ['sliding_window_pattern', pattern],
        ['key_length_swa', uint32(8)],
      ),
    ).to.equal({ window: 512, layers: [yes, false], keyLength: 8, valueLength: 16 });
    expect(window('gemma3', 3, named, ['sliding_window_pattern', uint32(3)])?.layers).to.equal([
      yes,
      yes,
      false,
    ]);
  });

  it('counts the experts that rest', () => {
    const header = headerOf(
      decoderGguf({ ...SMALL_DECODER, architecture: 'qwen3moe', experts: { count: 8, used: 2 } }),
    );
    const bytes = 2 * 3 * 64 * 96 * 8 * 4;
    expect(header.experts).to.equal({ used: 2, idleBytes: (bytes * 6) / 8 });
  });

  it('tells recurrent layers from those with keys', () => {
    const metadata: [string, GgufValue][] = [
      ['general.architecture', text('jamba')],
      ['jamba.block_count', uint32(2)],
      ['jamba.embedding_length', uint32(64)],
      ['jamba.attention.head_count', uint32(4)],
      ['jamba.attention.head_count_kv', numbers(0, 2)],
      ['jamba.ssm.conv_kernel', uint32(4)],
      ['jamba.ssm.inner_size', uint32(128)],
      ['jamba.ssm.state_size', uint32(16)],
    ];
    const tensors = [
      tensor('blk.0.ssm_conv1d.weight', 4, 128),
      tensor('blk.1.attn_k.weight', 8, 8),
    ];
    // 3 columns of 128 for the convolution, and 16 × 128 of the state, of 4 bytes.
    expect(headerOf({ metadata, tensors })).to.include({
      kvHeads: [0, 2],
      recurrentBytes: (3 * 128 + 16 * 128) * 4,
      recurrentLength: 128,
    });
  });

  it('keeps one compressed key where attention is latent', () => {
    const own = (key: string, value: number): [string, GgufValue] => [
      `deepseek2.attention.${key}`,
      uint32(value),
    ];
    const content = decoderGguf({ ...SMALL_DECODER, architecture: 'deepseek2', head: 576 });
    const more = [own('key_length_mla', 192), own('value_length_mla', 128)];
    const header = headerOf({ ...content, metadata: [...content.metadata, ...more] });
    expect(header).to.include({ kvHeads: [1, 1], keyLength: 576, valueLength: 0 });
  });

  it('knows models of vectors, which keep nothing', () => {
    const content = decoderGguf({ ...SMALL_DECODER, architecture: 'bert' });
    content.metadata.push(['bert.pooling_type', uint32(1)]);
    expect(headerOf(content)).to.include({ pooling: 'mean', isEmbedding: true, kvHeads: [0, 0] });
  });

  it('adds up the parts of a model in several files', () => {
    const { metadata, tensors } = decoderGguf(SMALL_DECODER);
    const part = (number: number): string => join(folder, `m-0000${number}-of-00002.gguf`);
    const split: [string, GgufValue][] = [
      ['split.count', { type: 'uint16', value: 2 }],
      ['split.tensors.count', { type: 'int32', value: tensors.length }],
    ];
    writeGguf(part(1), { metadata: [...metadata, ...split], tensors: tensors.slice(0, 5) });
    const read = () => describeModel(readParts(listGgufParts(part(1))));
    expect(read).to.throw(/ENOENT/);
    writeGguf(part(2), { metadata: split, tensors: tensors.slice(6) });
    expect(read).to.throw('The files contain 20 of 21 tensors');
    writeGguf(part(2), { metadata: split, tensors: tensors.slice(5) });
    const whole = headerOf({ metadata, tensors });
    const { fileBytes, ...rest } = read();
    expect({ ...rest, fileBytes: whole.fileBytes }).to.equal(whole);
    expect(fileBytes).to.be.above(whole.weightsBytes);
    expect(() => readParts([part(1)])).to.throw('The model has 2 files, but 1 were found');
  });

  it('says nothing of what its file contains in more than one short line', () => {
    const { metadata, tensors } = decoderGguf(SMALL_DECODER);
    const long = `\u001b[31m${'x'.repeat(1_000_000)}`;
    const withText = (key: string, value: GgufValue): GgufContent => ({
      metadata: [...metadata.filter(([other]) => other !== key), [key, value]],
      tensors,
    });
    expect(faultOf(withText('general.architecture', text(long)))).to.equal(
      `GgufFault: The metadata key general.architecture has an invalid value: "\\u001b[31m${'x'.repeat(75)}"`,
    );
    for (const key of ['split.count', 'split.tensors.count']) {
      const faults = [text(long), numbers(1)].map((value) => faultOf(withText(key, value)));
      const fault = `GgufFault: The value of ${key} is not a number`;
      expect(faults).to.equal([fault, fault]);
    }
    expect(
      headerOf(withText('general.license', text('MIT\u001b[31m\n\u202eTIM'))).licence,
    ).to.equal('MIT [31m TIM');
    expect(headerOf(withText('general.name', text('n'.repeat(300)))).name).to.equal(
      'n'.repeat(200),
    );
    expect(headerOf(withText('general.languages', texts('e\u0000n'))).languages).to.equal(['e n']);
  });

  it('is refused where llama.cpp would refuse or abort', () => {
    const content = decoderGguf(SMALL_DECODER);
    const { metadata, tensors } = content;
    const twice = vocabularyOf(300).map(([key, value]): [string, GgufValue] =>
      value.type === 'array' && key.endsWith('.tokens')
        ? [key, { ...value, values: value.values.with(299, 'word7') }]
        : [key, value],
    );
    const without = (absent: string) => metadata.filter(([key]) => key !== absent);
    const layers = ['llama.block_count', uint32(4_000_000_000)] as const;
    const faults = [
      { metadata: [...metadata.slice(0, 12), ...twice], tensors },
      { metadata: [...metadata, ...metadata.slice(3, 4)], tensors },
      { metadata, tensors: [...tensors, ...tensors.slice(0, 1)] },
      { metadata: metadata.slice(1), tensors },
      { metadata: without('llama.block_count'), tensors },
      { metadata: [['general.architecture', text('clip')] as const], tensors: [] },
      { metadata: [...without('llama.block_count'), layers], tensors },
      { metadata, tensors: [tensor('x', 1, 1, 1, 1, 1)] },
    ].map(({ metadata: of, tensors: with_ }) =>
      faultOf({ metadata: of.map(([key, value]) => [key, value]), tensors: with_ }),
    );
    expect(faults).to.equal([
      'GgufFault: Duplicate token "word7" in the vocabulary',
      'GgufFault: Duplicate metadata key "llama.embedding_length"',
      'GgufFault: Duplicate tensor "token_embd.weight"',
      'GgufFault: The metadata key general.architecture is missing',
      'GgufFault: The metadata key "llama.block_count" is missing, so the file is not a language model',
      'GgufFault: The metadata key "clip.block_count" is missing, so the file is not a language model',
      'GgufFault: The file declares 4000000000 layers, the maximum is 1024',
      'GgufFault: The tensor "x" has 5 dimensions, the maximum is 4',
    ]);
  });
});
