/** One word that fits at the cursor. */
export interface CompletionCandidate {
  word: string;
  about?: string;
}

/** The words that fit, or that a path fits. */
export type Fitting = CompletionCandidate[] | 'files';
