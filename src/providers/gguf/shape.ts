/**
 * The facts about a language model from which its memory and speed follow. All lengths are counts of
 * numbers, as in the metadata of GGUF files.
 */
export interface ModelShape {
  /** The bytes of all tensors. */
  weightsBytes: number;
  /** The bytes of the table of token embeddings, which stays in the memory of the CPU. */
  tokenEmbeddingBytes: number;
  /** The bytes of the output matrix; 0: the table of token embeddings is used as one. */
  outputBytes: number;
  layers: number;
  embeddingLength: number;
  /** The largest of all layers; in a mixture of experts that of one expert. */
  feedForwardLength: number;
  vocabularySize: number;
  /** The most heads of a layer. */
  heads: number;
  /** The heads of keys and values of each layer, or of every layer; 0: a layer without a KV cache. */
  kvHeads: number | readonly number[];
  keyLength: number;
  /** 0: values are not kept, since they follow from the keys (multi-head latent attention). */
  valueLength: number;
  /** False where node-llama-cpp uses none; then all scores of a batch are in memory at once. */
  hasFlashAttention: boolean;
  /** null: every layer attends to the whole context. */
  sliding: SlidingWindow | null;
  /** null: not a mixture of experts. */
  experts: ExpertUse | null;
  /** The bytes of the states of recurrent layers, which do not grow with the context. */
  recurrentBytes: number;
  /** The length of the vectors within recurrent layers; 0: there are none. */
  recurrentLength: number;
}

export interface SlidingWindow {
  /** In tokens. */
  window: number;
  /** True for each layer that attends to the window alone. */
  layers: readonly boolean[];
  /** The lengths of keys and values in such layers. */
  keyLength: number;
  valueLength: number;
}

export interface ExpertUse {
  /** The experts of each layer that are used for one token. */
  used: number;
  /** The bytes of the experts that are not used for one token. */
  idleBytes: number;
}
