import { randomFrom } from '../faults/random.js';

/** Ours: the words of the language, and those at its top that would be no words to search for. */
const VOCABULARY = 50_000;
const COMMONEST = 100;
const SENTENCE_WORDS = 15;
/** A paragraph that is long enough to end a chunk. */
const PARAGRAPH_WORDS = 210;

const SYLLABLES = [...'bdfgklmnprstvz'].flatMap((sign) =>
  [...'aeiou'].map((vowel) => sign + vowel),
);

/** Returns the word of a rank: the rarer, the longer. */
const wordOf = (rank: number): string => {
  let word = '';
  for (let left = rank + SYLLABLES.length; left > 0; left = Math.floor(left / SYLLABLES.length)) {
    word += SYLLABLES[left % SYLLABLES.length];
  }
  return word;
};

/** A made-up language in which the word of rank n is n times rarer than the first, as Zipf found. */
export const zipfLanguage = (seed: number) => {
  const random = randomFrom(seed);
  const words = Array.from({ length: VOCABULARY }, (_, rank) => wordOf(rank));
  // With the density 1/x the logarithm of the rank is spread evenly.
  const draw = (first: number): string => {
    const span = Math.log(VOCABULARY / first);
    return words[Math.floor(first * Math.exp(random() * span)) - 1] ?? '';
  };
  const sentence = (): string =>
    `${Array.from({ length: SENTENCE_WORDS }, () => draw(1)).join(' ')}. `;
  const paragraph = (): string =>
    Array.from({ length: PARAGRAPH_WORDS / SENTENCE_WORDS }, sentence).join('');
  return {
    /** Returns a text that is split into as many chunks. */
    text: (chunks: number): string => Array.from({ length: chunks }, paragraph).join('\n\n'),
    /** Returns different words that a person could search for. */
    query: (count: number): string => {
      const chosen = new Set<string>();
      while (chosen.size < count) chosen.add(draw(COMMONEST));
      return [...chosen].join(' ');
    },
  };
};
