/** Lengths are counts of numbers, as in GGUF metadata. */
export interface ModelShape {
  weightsBytes: number;
  /** Stays in main memory. */
  tokenEmbeddingBytes: number;
  /** 0: the token embeddings are used as output. */
  outputBytes: number;
  layers: number;
  embeddingLength: number;
  /** Maximum over all layers; of one expert in a mixture. */
  feedForwardLength: number;
  vocabularySize: number;
  /** Maximum over all layers. */
  heads: number;
  /** Per layer, or for all; 0: no KV cache. */
  kvHeads: number | readonly number[];
  keyLength: number;
  /** 0: values follow from the keys (multi-head latent attention). */
  valueLength: number;
  /** False: all scores of a batch are in memory at once. */
  hasFlashAttention: boolean;
  /** null: every layer attends to the whole context. */
  sliding: SlidingWindow | null;
  /** null: not a mixture of experts. */
  experts: ExpertUse | null;
  /** Independent of the context. */
  recurrentBytes: number;
  /** 0: no recurrent layers. */
  recurrentLength: number;
}

export interface SlidingWindow {
  /** In tokens. */
  window: number;
  /** True for layers that attend only to the window. */
  layers: readonly boolean[];
  /** In such layers. */
  keyLength: number;
  valueLength: number;
}

export interface ExpertUse {
  /** Experts used per token. */
  used: number;
  /** Bytes of unused experts per token. */
  idleBytes: number;
}
