import { float32Bytes, type GgufTensor, type GgufValue, writeGguf } from './ggufwriter.js';

export interface ScriptedOptions {
  /** Context length in the metadata. */
  contextLength?: number;
  /**
   * Next token for tokens that do not follow the script. A token is a piece of the script or a
   * printable character.
   */
  after?: Record<string, string>;
  /** Additional tokens of the vocabulary. A repeated one aborts the engine. */
  extraTokens?: string[];
  /** Jinja chat template in place of ChatML. */
  chatTemplate?: string;
}

/** Token types with their numbers in the format. */
const TYPES = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 };

interface Vocabulary {
  tokens: string[];
  types: number[];
  end: number;
}

const HEAD_COUNT = 2;
const HEAD_WIDTH = 32;
const FEED_FORWARD = 32;
const BYTES_AT = 3;
/** Token of a line end. In ChatML a reply starts after one. */
const LINE_END = BYTES_AT + 0x0a;

const CHATML =
  "{% for m in messages %}{{'<|im_start|>'+m['role']+'\n'+m['content']+'<|im_end|>'+'\n'}}{% endfor %}" +
  "{% if add_generation_prompt %}{{'<|im_start|>assistant\n'}}{% endif %}";

/**
 * Writes a GGUF model that outputs its script and ends. Returns its size in bytes. It is a
 * one-layer llama with zero attention and feed-forward weights and one-hot embeddings, so that each
 * token alone determines the next. The pieces of a script are unique, and not single printable
 * characters.
 */
export const writeScriptedGguf = (
  path: string,
  script: string[],
  options: ScriptedOptions = {},
): number => {
  const vocabulary = vocabularyOf([...script, ...(options.extraTokens ?? [])]);
  const next = chainOf(vocabulary, script, options.after ?? {});
  return writeGguf(path, {
    metadata: metadataOf(vocabulary, options),
    tensors: tensorsOf(vocabulary, next),
  });
};

const vocabularyOf = (pieces: string[]): Vocabulary => {
  const rows: [token: string, type: number][] = [
    ['<unk>', TYPES.unknown],
    ['<s>', TYPES.control],
    ['</s>', TYPES.control],
    ...Array.from({ length: 256 }, (_, byte): [string, number] => [
      `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
      TYPES.byte,
    ]),
    ['▁', TYPES.normal],
    ...Array.from({ length: 94 }, (_, at): [string, number] => [
      String.fromCharCode(33 + at),
      TYPES.normal,
    ]),
    ['<|im_start|>', TYPES.control],
    ['<|im_end|>', TYPES.control],
  ];
  const end = rows.length - 1;
  // A user-defined token matches literally.
  rows.push(...pieces.map((piece): [string, number] => [piece, TYPES.userDefined]));
  return { tokens: rows.map(([token]) => token), types: rows.map(([, type]) => type), end };
};

/** The next token of each token. */
const chainOf = (
  { tokens, end }: Vocabulary,
  script: string[],
  after: Record<string, string>,
): Map<number, number> => {
  const idOf = (token: string): number => {
    const id = tokens.indexOf(token);
    if (id < 0) throw new Error(`no token of the script: ${token}`);
    return id;
  };
  const spoken = [LINE_END, ...script.map(idOf), end];
  const pairs = spoken.slice(1).map((id, at): [number, number] => [spoken[at]!, id]);
  const others = Object.entries(after).map(([token, next]): [number, number] => [
    idOf(token),
    idOf(next),
  ]);
  return new Map([...pairs, ...others]);
};

const widthOf = ({ tokens }: Vocabulary): number => Math.ceil(tokens.length / 64) * 64;

const metadataOf = (
  vocabulary: Vocabulary,
  { contextLength = 4096, chatTemplate = CHATML }: ScriptedOptions,
): [string, GgufValue][] => {
  const { tokens, types, end } = vocabulary;
  const sizes = {
    context_length: contextLength,
    embedding_length: widthOf(vocabulary),
    block_count: 1,
    feed_forward_length: FEED_FORWARD,
    'attention.head_count': HEAD_COUNT,
    'attention.head_count_kv': 1,
    'attention.key_length': HEAD_WIDTH,
    'attention.value_length': HEAD_WIDTH,
    'rope.dimension_count': HEAD_WIDTH,
    vocab_size: tokens.length,
  };
  const scores = types.map((type, at) => (type === TYPES.normal ? -at : 0));
  return [
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['general.name', { type: 'string', value: 'scripted' }],
    ...Object.entries(sizes).map(([key, value]): [string, GgufValue] => [
      `llama.${key}`,
      { type: 'uint32', value },
    ]),
    ['llama.attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }],
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', values: tokens }],
    ['tokenizer.ggml.scores', { type: 'array', of: 'float32', values: scores }],
    ['tokenizer.ggml.token_type', { type: 'array', of: 'int32', values: types }],
    ['tokenizer.ggml.bos_token_id', { type: 'uint32', value: 1 }],
    ['tokenizer.ggml.eos_token_id', { type: 'uint32', value: end }],
    ['tokenizer.ggml.unknown_token_id', { type: 'uint32', value: 0 }],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
    ['tokenizer.chat_template', { type: 'string', value: chatTemplate }],
  ];
};

const tensorsOf = (vocabulary: Vocabulary, next: Map<number, number>): GgufTensor[] => {
  const width = widthOf(vocabulary);
  const count = vocabulary.tokens.length;
  const heads = HEAD_COUNT * HEAD_WIDTH;
  return [
    filled('token_embd.weight', [width, count], (into) => {
      for (let id = 0; id < count; id++) into[id * width + id] = 1;
    }),
    ones('blk.0.attn_norm.weight', width),
    zeros('blk.0.attn_q.weight', [width, heads]),
    zeros('blk.0.attn_k.weight', [width, HEAD_WIDTH]),
    zeros('blk.0.attn_v.weight', [width, HEAD_WIDTH]),
    zeros('blk.0.attn_output.weight', [heads, width]),
    ones('blk.0.ffn_norm.weight', width),
    zeros('blk.0.ffn_gate.weight', [width, FEED_FORWARD]),
    zeros('blk.0.ffn_up.weight', [width, FEED_FORWARD]),
    zeros('blk.0.ffn_down.weight', [FEED_FORWARD, width]),
    ones('output_norm.weight', width),
    filled('output.weight', [width, count], (into) => {
      for (const [id, following] of next) into[following * width + id] = 2;
    }),
  ];
};

const zeros = (name: string, dims: number[]): GgufTensor => ({ name, dims, type: 'F32' });

const ones = (name: string, width: number): GgufTensor =>
  filled(name, [width], (into) => into.fill(1));

const filled = (name: string, dims: number[], fill: (into: Float32Array) => void): GgufTensor => ({
  ...zeros(name, dims),
  bytes: float32Bytes(dims, fill),
});
