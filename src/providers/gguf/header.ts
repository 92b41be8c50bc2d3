import { GgufFault } from './bytes.js';
import { recurrentState } from './layers.js';
import { type Metadata, quoted, TOKENS } from './metadata.js';
import type { GgufContents } from './parts.js';
import { detectQuantization } from './quantization.js';
import type { ExpertUse, ModelShape } from './shape.js';
import type { TensorFacts } from './tensors.js';
import {
  metadataClaims,
  metadataLength,
  metadataLine,
  metadataNumber,
  metadataNumbers,
  metadataText,
  metadataTexts,
} from './values.js';
import { resolveSlidingWindow } from './windows.js';

export interface GgufHeader extends ModelShape {
  architecture: string;
  name: string | null;
  /** Counted from the tensors. */
  parameters: number;
  /** In tokens; null: not stated. */
  contextLength: number | null;
  /** `Q4_K_M`; else the type of most weights. */
  quantization: string;
  licence: string | null;
  languages: string[];
  hasChatTemplate: boolean;
  /** The chat template mentions tools. */
  hasTools: boolean;
  /** null: not stated. */
  pooling: 'none' | 'mean' | 'cls' | 'last' | 'rank' | null;
  isEmbedding: boolean;
  fileBytes: number;
}

const POOLING = ['none', 'mean', 'cls', 'last', 'rank'] as const;
const ARCHITECTURE = /^[\w.-]{1,64}$/;
const TEMPLATE = 'tokenizer.chat_template';
const EXPERT = /\.ffn_\w+_exps\.|\.ffn_\w+\.\d+\.weight$/;

/** Throws GgufFault if it is not a language model. */
export const describeModel = ({ metadata, tensors, fileBytes }: GgufContents): GgufHeader => {
  const architecture = metadataText(metadata, 'general.architecture');
  if (!architecture) throw new GgufFault('The metadata key general.architecture is missing');
  if (!ARCHITECTURE.test(architecture)) {
    throw new GgufFault(
      `The metadata key general.architecture has an invalid value: ${quoted(architecture)}`,
    );
  }
  const pooling = POOLING[metadataNumber(metadata, `${architecture}.pooling_type`) ?? -1] ?? null;
  return {
    ...readModelShape(metadata, architecture, tensors),
    architecture,
    name: metadataLine(metadata, 'general.name'),
    parameters: sum(tensors, ({ elements }) => elements),
    contextLength: checkContextLength(metadataNumber(metadata, `${architecture}.context_length`)),
    quantization: detectQuantization(metadataNumber(metadata, 'general.file_type'), tensors),
    licence: metadataLine(metadata, 'general.license'),
    languages: metadataTexts(metadata, 'general.languages'),
    hasChatTemplate: metadata.has(TEMPLATE),
    hasTools:
      metadata.has(`${TEMPLATE}.tool_use`) ||
      /\btools\b/.test(metadataText(metadata, TEMPLATE) ?? ''),
    pooling,
    isEmbedding: pooling !== null && !['none', 'rank'].includes(pooling),
    fileBytes,
  };
};

/** The engine reads larger numbers as negative. */
const MAX_CONTEXT = 100_000_000;

const checkContextLength = (tokens: number | null): number | null => {
  if (tokens !== null && tokens > MAX_CONTEXT) {
    throw new GgufFault(
      `The file declares a context of ${tokens} tokens, the maximum is ${MAX_CONTEXT}`,
    );
  }
  return tokens;
};

const readModelShape = (
  metadata: Metadata,
  architecture: string,
  tensors: TensorFacts[],
): ModelShape => {
  const at = (key: string): number | null => metadataNumber(metadata, `${architecture}.${key}`);
  const all = (key: string): number[] =>
    metadataNumbers(metadata, `${architecture}.${key}`, layers) ?? [0];
  const layers = requireNumber(architecture, 'block_count', at('block_count'));
  if (layers > MAX_LAYERS)
    throw new GgufFault(`The file declares ${layers} layers, the maximum is ${MAX_LAYERS}`);
  const embeddingLength = requireNumber(architecture, 'embedding_length', at('embedding_length'));
  const stored = recurrentState(metadata, architecture, { layers, tensors });
  const ownBytes = (name: string): number => tensors.find((each) => each.name === name)?.bytes ?? 0;
  return {
    weightsBytes: sum(tensors, ({ bytes }) => bytes),
    tokenEmbeddingBytes: ownBytes('token_embd.weight'),
    outputBytes: ownBytes('output.weight'),
    layers,
    embeddingLength,
    feedForwardLength: at('expert_feed_forward_length') || Math.max(...all('feed_forward_length')),
    vocabularySize: metadataLength(metadata, TOKENS) ?? at('vocab_size') ?? 0,
    heads: Math.max(...all('attention.head_count')),
    ...stored,
    sliding: resolveSlidingWindow({
      architecture,
      layers,
      window: at('attention.sliding_window'),
      pattern:
        metadataClaims(metadata, `${architecture}.attention.sliding_window_pattern`) ??
        at('attention.sliding_window_pattern'),
      keyLength: at('attention.key_length_swa') ?? stored.keyLength,
      valueLength: at('attention.value_length_swa') ?? stored.valueLength,
    }),
    experts: readExpertUse(at, tensors),
  };
};

const readExpertUse = (
  at: (key: string) => number | null,
  tensors: TensorFacts[],
): ExpertUse | null => {
  const count = at('expert_count');
  if (!count) return null;
  const used = at('expert_used_count') ?? count;
  const ofExperts = tensors.filter(({ name }) => EXPERT.test(name));
  const bytes = sum(ofExperts, (tensor) => tensor.bytes);
  return { used, idleBytes: Math.round(bytes * (1 - Math.min(1, used / count))) };
};

/** llama.cpp accepts 512. */
const MAX_LAYERS = 1024;

const requireNumber = (architecture: string, key: string, value: number | null): number => {
  if (!value) {
    throw new GgufFault(
      `The metadata key "${architecture}.${key}" is missing, so the file is not a language model`,
    );
  }
  return value;
};

const sum = (tensors: TensorFacts[], of: (tensor: TensorFacts) => number): number =>
  tensors.reduce((total, tensor) => total + of(tensor), 0);
