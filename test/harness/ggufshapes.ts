import type { GgufContent, GgufTensor, GgufValue } from './ggufwriter.js';

/** Decoder with zero weights in the layout of real models. */
interface DecoderShape {
  /** Default `llama`. `gemma3` and `qwen3moe` get the tensors that llama.cpp requires for them. */
  architecture?: string;
  embedding: number;
  heads: number;
  kvHeads: number;
  /** Length of keys and values. */
  head: number;
  feedForward: number;
  layers: number;
  vocabulary: number;
  /** Matrix type. Default F32. */
  type?: GgufTensor['type'];
  /** Default 32,768. */
  context?: number;
  experts?: { count: number; used: number };
  more?: [key: string, value: GgufValue][];
}

/** A decoder of a few kilobytes. */
export const SMALL_DECODER = {
  embedding: 64,
  heads: 4,
  kvHeads: 2,
  head: 16,
  feedForward: 96,
  layers: 2,
  vocabulary: 300,
};

/** GGUF content of such a model, with an artificial vocabulary. */
export const decoderGguf = (shape: DecoderShape): GgufContent => {
  const { architecture = 'llama', type = 'F32', embedding, layers, vocabulary, experts } = shape;
  const own = (key: string, value: number): [string, GgufValue] => [
    `${architecture}.${key}`,
    uint32(value),
  ];
  return {
    metadata: [
      ['general.architecture', text(architecture)],
      ['general.name', text('Zeros')],
      own('context_length', shape.context ?? 32_768),
      own('embedding_length', embedding),
      own('block_count', layers),
      own('feed_forward_length', shape.feedForward),
      own('attention.head_count', shape.heads),
      own('attention.head_count_kv', shape.kvHeads),
      own('attention.key_length', shape.head),
      own('attention.value_length', shape.head),
      own('rope.dimension_count', shape.head),
      [`${architecture}.attention.layer_norm_rms_epsilon`, { type: 'float32', value: 1e-5 }],
      ...(experts ? [own('expert_count', experts.count)] : []),
      ...(experts ? [own('expert_used_count', experts.used)] : []),
      ...(experts ? [own('expert_feed_forward_length', shape.feedForward)] : []),
      ...(shape.more ?? []),
      ...vocabularyOf(vocabulary),
    ],
    tensors: [
      { name: 'token_embd.weight', dims: [embedding, vocabulary], type },
      { name: 'output_norm.weight', dims: [embedding], type: 'F32' },
      { name: 'output.weight', dims: [embedding, vocabulary], type },
      ...Array.from({ length: layers }, (_, at) => layerTensors(shape, at, type)).flat(),
    ],
  };
};

export const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
export const text = (value: string): GgufValue => ({ type: 'string', value });

const layerTensors = (shape: DecoderShape, at: number, type: GgufTensor['type']): GgufTensor[] => {
  const { architecture, embedding, heads, kvHeads, head, feedForward } = shape;
  const matrix = (name: string, ...dims: number[]): GgufTensor => ({
    name: `blk.${at}.${name}.weight`,
    dims,
    type,
  });
  const norm = (name: string, length = embedding): GgufTensor => ({
    name: `blk.${at}.${name}.weight`,
    dims: [length],
    type: 'F32',
  });
  const ofHeads = [norm('attn_q_norm', head), norm('attn_k_norm', head)];
  const after = [norm('post_attention_norm'), norm('post_ffw_norm')];
  return [
    norm('attn_norm'),
    matrix('attn_q', embedding, heads * head),
    matrix('attn_k', embedding, kvHeads * head),
    matrix('attn_v', embedding, kvHeads * head),
    matrix('attn_output', heads * head, embedding),
    norm('ffn_norm'),
    ...(shape.experts
      ? expertTensors(shape, shape.experts.count, matrix)
      : [
          matrix('ffn_gate', embedding, feedForward),
          matrix('ffn_up', embedding, feedForward),
          matrix('ffn_down', feedForward, embedding),
        ]),
    ...(architecture === 'gemma3' ? [...ofHeads, ...after] : []),
    ...(architecture === 'qwen3moe' ? ofHeads : []),
  ];
};

const expertTensors = (
  { embedding, feedForward }: DecoderShape,
  count: number,
  matrix: (name: string, ...dims: number[]) => GgufTensor,
): GgufTensor[] => [
  { ...matrix('ffn_gate_inp', embedding, count), type: 'F32' },
  matrix('ffn_gate_exps', embedding, feedForward, count),
  matrix('ffn_up_exps', embedding, feedForward, count),
  matrix('ffn_down_exps', feedForward, embedding, count),
];

/** Three control tokens, one per byte, and artificial words. */
export const vocabularyOf = (count: number): [string, GgufValue][] => {
  const bytes = Array.from({ length: 256 }, (_, byte) => {
    return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
  });
  const first = ['<unk>', '<s>', '</s>', ...bytes];
  const words = Array.from({ length: count - first.length }, (_, at) => `word${at}`);
  const types = [2, 3, 3, ...bytes.map(() => 6), ...words.map(() => 1)];
  return [
    ['tokenizer.ggml.model', text('llama')],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', values: [...first, ...words] }],
    ['tokenizer.ggml.scores', { type: 'array', of: 'float32', values: types.map((_, at) => -at) }],
    ['tokenizer.ggml.token_type', { type: 'array', of: 'int32', values: types }],
    ['tokenizer.ggml.bos_token_id', uint32(1)],
    ['tokenizer.ggml.eos_token_id', uint32(2)],
    ['tokenizer.ggml.unknown_token_id', uint32(0)],
  ];
};
