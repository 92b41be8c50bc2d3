/** One word that fits at the cursor. */
export interface Candidate {
  word: string;
  about?: string;
}

/** The words that fit, or that a path fits. */
export type Fitting = Candidate[] | 'files';
