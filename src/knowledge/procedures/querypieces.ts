import { foldText } from '../../kernel/searchwords.js';

const MAX_PHRASES = 16;

interface QueryPiece {
  text: string;
  isPhrase: boolean;
  isExcluded: boolean;
}

const PIECE = /(-)?"([^"]*)"|(\S+)/g;
const QUOTES = /[“”„‟«»]/g;

export const queryPieces = (query: string): QueryPiece[] =>
  [...foldText(query.replace(QUOTES, '"')).matchAll(PIECE)].map(([, minus, phrase, word = '']) => {
    if (phrase !== undefined)
      return { text: phrase, isPhrase: true, isExcluded: minus !== undefined };
    const isExcluded = /^-[^-\s]/.test(word);
    return { text: isExcluded ? word.slice(1) : word, isPhrase: false, isExcluded };
  });

/** Returns an error instead of ignoring conditions beyond the limit, or null. */
export const queryFault = (query: string): string | null => {
  const pieces = queryPieces(query).filter(({ text }) => text.trim() !== '');
  const excluded = pieces.filter(({ isExcluded }) => isExcluded).length;
  const phrases = pieces.filter(({ isPhrase, isExcluded }) => isPhrase && !isExcluded).length;
  if (excluded > MAX_PHRASES) return `has ${excluded} exclusions. The maximum is ${MAX_PHRASES}`;
  return phrases > MAX_PHRASES ? `has ${phrases} phrases. The maximum is ${MAX_PHRASES}` : null;
};
