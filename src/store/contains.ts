import { type RawBuilder, sql } from 'kysely';

/**
 * Builds the condition for rows whose text contains a part that a person typed, in upper or lower
 * case, composed or decomposed (Unicode Standard Annex 15). SQLite's own functions know the cases of
 * ASCII letters alone.
 */
export const contains = (column: string, part: string): RawBuilder<boolean> => {
  const forms = [...new Set([part.normalize('NFC'), part.normalize('NFD')])];
  const found = forms.map(
    (form) => sql<boolean>`${sql.ref(column)} GLOB ${`*${patternOf(form)}*`}`,
  );
  return sql<boolean>`(${sql.join(found, sql` OR `)})`;
};

/** Returns the pattern of a text in any case, in which nothing else has a meaning. */
const patternOf = (text: string): string => [...text].map(anyCase).join('');

const anyCase = (sign: string): string => {
  const cases = new Set([sign, sign.toLowerCase(), sign.toUpperCase()]);
  const single = [...cases].filter((one) => [...one].length === 1);
  // A circumflex at the beginning of a class would exclude what follows.
  return sign === '^' ? sign : `[${single.join('')}]`;
};
