import { type RawBuilder, sql } from 'kysely';

/**
 * Case-insensitive for all scripts, composed or decomposed (Unicode Standard Annex 15). SQLite's
 * own functions know only ASCII case.
 */
export const contains = (column: string, part: string): RawBuilder<boolean> => {
  const forms = [...new Set([part.normalize('NFC'), part.normalize('NFD')])];
  const found = forms.map(
    (form) => sql<boolean>`${sql.ref(column)} GLOB ${`*${buildCaseInsensitivePattern(form)}*`}`,
  );
  return sql<boolean>`(${sql.join(found, sql` OR `)})`;
};

const buildCaseInsensitivePattern = (text: string): string => [...text].map(anyCase).join('');

const anyCase = (sign: string): string => {
  const cases = new Set([sign, sign.toLowerCase(), sign.toUpperCase()]);
  const single = [...cases].filter((one) => [...one].length === 1);
  // A leading circumflex would negate the class.
  return sign === '^' ? sign : `[${single.join('')}]`;
};
