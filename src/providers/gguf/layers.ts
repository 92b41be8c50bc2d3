import type { Metadata } from './metadata.js';
import type { TensorFacts } from './tensors.js';
import { metadataNumber, metadataNumbers } from './values.js';

interface RecurrentState {
  /** KV heads per layer; 0: no cache. */
  kvHeads: number[];
  keyLength: number;
  valueLength: number;
  hasFlashAttention: boolean;
  recurrentBytes: number;
  recurrentLength: number;
}

/** create_memory in llama-model.cpp. */
const WITHOUT_CACHE =
  /^(bert|modern-bert|nomic-bert(-moe)?|neo-bert|jina-bert-v[23]|eurobert|gemma-embedding|dream|llada(-moe)?|rnd1)$/;
const RECURRENT = /^blk\.(\d+)\.(ssm_|shortconv\.|time_mix_)/;
const SEPARATE_KEYS = /^blk\.(\d+)\.(attn_k|attn_kv_a_mqa)\.weight$/;
/** Fused queries, keys and values; recurrent layers can have this tensor too. */
const FUSED_KEYS = /^blk\.(\d+)\.attn_qkv\.weight$/;
/** gemma3n: only the first layers have keys and values; the others reuse them. */
const FIRST_WITH_KEYS: Record<string, number> = { gemma3n: 20 };
const STATE_BYTES = 4;

/** Architectures without a KV cache. */
export const hasNoCache = (architecture: string): boolean => WITHOUT_CACHE.test(architecture);

/** flashAttentionSupported in GgufInsights of node-llama-cpp. */
export const usesFlashAttention = (architecture: string, keyLength: number, valueLength: number) =>
  !['grok', 'gemma2'].includes(architecture) && keyLength === valueLength;

/** As in llama.cpp. */
export const recurrentState = (
  metadata: Metadata,
  architecture: string,
  { layers, tensors }: { layers: number; tensors: TensorFacts[] },
): RecurrentState => {
  const at = (key: string): number | null => metadataNumber(metadata, `${architecture}.${key}`);
  const heads = metadataNumbers(metadata, `${architecture}.attention.head_count`, layers);
  const kvHeads = metadataNumbers(metadata, `${architecture}.attention.head_count_kv`, layers);
  const ownLength = Math.floor((at('embedding_length') ?? 0) / (heads?.[0] || 1));
  const mostHeads = Math.max(0, ...(heads ?? []));
  const isLatent = (at('attention.key_length_mla') ?? 0) > 0;
  const recurrent = findLayers(tensors, RECURRENT);
  const withKeys = findLayersWithKeys(tensors, recurrent);
  const last = FIRST_WITH_KEYS[architecture] ?? layers - (at('attention.shared_kv_layers') ?? 0);
  const headsOf = (layer: number): number => {
    if (hasNoCache(architecture) || layer >= last) return 0;
    if (withKeys.size + recurrent.size > 0 && !withKeys.has(layer)) return 0;
    return isLatent ? 1 : (kvHeads?.[layer] ?? heads?.[layer] ?? 0);
  };
  const keyLength = at('attention.key_length') ?? ownLength;
  const valueLength = at('attention.value_length') ?? ownLength;
  return {
    kvHeads: Array.from({ length: layers }, (_, layer) => headsOf(layer)),
    keyLength,
    valueLength: isLatent ? 0 : valueLength,
    hasFlashAttention: usesFlashAttention(architecture, keyLength, valueLength),
    recurrentBytes: recurrent.size * STATE_BYTES * stateLength(at, mostHeads),
    recurrentLength: recurrent.size && (at('ssm.inner_size') ?? mostHeads * keyLength),
  };
};

const findLayers = (tensors: TensorFacts[], pattern: RegExp): Set<number> =>
  new Set(tensors.flatMap(({ name }) => pattern.exec(name)?.[1] ?? []).map(Number));

const findLayersWithKeys = (tensors: TensorFacts[], recurrent: Set<number>): Set<number> => {
  const fused = [...findLayers(tensors, FUSED_KEYS)].filter((layer) => !recurrent.has(layer));
  return new Set([...findLayers(tensors, SEPARATE_KEYS), ...fused]);
};

/** llama-hparams.cpp. */
const stateLength = (at: (key: string) => number | null, heads: number): number => {
  const embedding = at('embedding_length') ?? 0;
  const headSize = at('wkv.head_size');
  if (headSize) return embedding * ((at('token_shift_count') ?? 2) + headSize);
  const cached = at('shortconv.l_cache');
  if (cached) return embedding * (cached - 1);
  const kernel = at('ssm.conv_kernel') ?? 0;
  const delta = at('kda.head_dim');
  if (delta) return 3 * (kernel > 0 ? kernel - 1 : 3) * heads * delta + delta * delta * heads;
  const [inner, state] = [at('ssm.inner_size') ?? 0, at('ssm.state_size') ?? 0];
  const convolved = inner + 2 * (at('ssm.group_count') ?? 0) * state;
  return Math.max(0, kernel - 1) * convolved + state * inner;
};
