import { foldText } from '../../kernel/searchwords.js';

/** Ours: the most phrases of a query, and the most exclusions. */
const MAX_PHRASES = 16;

interface QueryPiece {
  text: string;
  isPhrase: boolean;
  isExcluded: boolean;
}

/** A phrase in quotes or a word, with `-` before it if it is excluded. */
const PIECE = /(-)?"([^"]*)"|(\S+)/g;
const QUOTES = /[“”„‟«»]/g;

/** Takes a query apart: what is searched for, and what is excluded. */
export const queryPieces = (query: string): QueryPiece[] =>
  [...foldText(query.replace(QUOTES, '"')).matchAll(PIECE)].map(([, minus, phrase, word = '']) => {
    if (phrase !== undefined)
      return { text: phrase, isPhrase: true, isExcluded: minus !== undefined };
    const isExcluded = /^-[^-\s]/.test(word);
    return { text: isExcluded ? word.slice(1) : word, isPhrase: false, isExcluded };
  });

/** Says why a query is refused: none of its conditions is left out. Returns null for any other. */
export const faultOfQuery = (query: string): string | null => {
  const pieces = queryPieces(query).filter(({ text }) => text.trim() !== '');
  const excluded = pieces.filter(({ isExcluded }) => isExcluded).length;
  const phrases = pieces.filter(({ isPhrase, isExcluded }) => isPhrase && !isExcluded).length;
  if (excluded > MAX_PHRASES) return `has ${excluded} exclusions. The maximum is ${MAX_PHRASES}`;
  return phrases > MAX_PHRASES ? `has ${phrases} phrases. The maximum is ${MAX_PHRASES}` : null;
};
