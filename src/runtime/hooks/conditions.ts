import { lookUp, type TemplateScope } from './template.js';

export const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'matches',
  'exists',
  'gt',
  'lt',
  'in',
] as const;

export interface Condition {
  /** A template path without braces: `webhook.body.action`. */
  field: string;
  operator: (typeof OPERATORS)[number];
  value?: unknown;
}

const LONGEST_MATCHED = 10_000;

/** The sentence that says which condition stopped it, or null when all hold. */
export const stoppedBy = (conditions: Condition[], scope: TemplateScope): string | null => {
  for (const [index, condition] of conditions.entries()) {
    const found = lookUp(scope, condition.field);
    if (!holds(condition, found)) return `condition ${index + 1}: ${describe(condition, found)}`;
  }
  return null;
};

const holds = ({ operator, value }: Condition, found: unknown): boolean => {
  switch (operator) {
    case 'equals':
      return isEqual(found, value);
    case 'not_equals':
      return !isEqual(found, value);
    case 'contains':
      return Array.isArray(found)
        ? found.some((each) => isEqual(each, value))
        : typeof found === 'string' && found.includes(String(value));
    case 'matches':
      return typeof found === 'string' && compile(value).test(found.slice(0, LONGEST_MATCHED));
    case 'exists':
      return (found !== undefined) === (value !== false);
    case 'gt':
      return typeof found === 'number' && found > Number(value);
    case 'lt':
      return typeof found === 'number' && found < Number(value);
    case 'in':
      return Array.isArray(value) && value.some((each) => isEqual(found, each));
  }
};

const isEqual = (a: unknown, b: unknown): boolean =>
  a === b || (a !== undefined && JSON.stringify(a) === JSON.stringify(b));

const compile = (pattern: unknown): RegExp => new RegExp(String(pattern), 'u');

const describe = ({ field, operator, value }: Condition, found: unknown): string => {
  const name = field.replace(/^webhook\.body\./, '');
  if (found === undefined) return `${name} is missing`;
  if (operator === 'exists') return `${name} is there`;
  return `${name} is ${short(found)}, not ${operator} ${short(value)}`;
};

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

const NESTED_QUANTIFIER = /[*+}]\)?[*+{]|\([^)]*[*+][^)]*\)[*+{]/;

/**
 * Why a pattern cannot be used, or null. Payloads come from strangers, so a pattern whose
 * quantifiers nest (it could take for ever on a chosen input) is refused when the hook is saved.
 */
export const faultOfPattern = (pattern: unknown): string | null => {
  if (typeof pattern !== 'string' || pattern.length > 300)
    return 'a pattern of at most 300 characters';
  try {
    compile(pattern);
  } catch {
    return 'a valid regular expression';
  }
  return NESTED_QUANTIFIER.test(pattern) || /\\[1-9]/.test(pattern)
    ? 'a pattern without nested quantifiers or back references'
    : null;
};
