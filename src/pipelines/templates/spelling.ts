import { memberAt } from '../../kernel/jsonvalue.js';
import type { FieldFault } from '../../kernel/problem.js';
import type { KnownNames } from './check.js';
import type { ReadableYaml, Spelling } from './yaml.js';

interface SpelledTemplate {
  yaml: ReadableYaml;
  known: Pick<KnownNames, 'isNumericParam'>;
  value: unknown;
}

/** Places that accept any value and pass it on unchanged. */
const ANY_VALUE =
  /^(parameters\.\d+\.default|stages\.\d+\.(when\.\d+\.value|config\.(stage\.config\.)?(toolParams|body|items|params)))(\.|$)/;
const NO_TEXT = /^must be a (text|string)\b/;

/**
 * Adds a hint to faults of unquoted values, and reports numbers whose spelling would be lost:
 * `1.10` would become 1.1, and `007` would become 7.
 */
export const addSpellingFaults = (faults: FieldFault[], text: SpelledTemplate): FieldFault[] => {
  const { spellings } = text.yaml;
  const advised = faults.map(({ path, message }) => {
    const spelling = NO_TEXT.test(message) ? spellings.get(path) : undefined;
    return { path, message: spelling ? `${message}. Put ${spelling.source} in quotes` : message };
  });
  const paths = new Set(faults.map(({ path }) => path));
  const lost = [...spellings].flatMap(([path, spelling]) => {
    if (paths.has(path) || !ANY_VALUE.test(path)) return [];
    const message = faultOfSpelling(spelling, isNumber(path, text));
    return message === null ? [] : [{ path, message }];
  });
  return [...advised, ...lost];
};

const faultOfSpelling = ({ source, value }: Spelling, isNumeric: boolean): string | null => {
  if (typeof value !== 'number') return null;
  const written = Number.isFinite(value) ? JSON.stringify(value) : 'null';
  if (source === written || (isNumeric && isExact(source, value))) return null;
  const inQuotes = `Put ${source} in quotes to keep it as a string`;
  if (!isExact(source, value)) return `would be changed to ${written}. ${inQuotes}`;
  return `would be changed to ${written}. ${inQuotes}, or write ${written}`;
};

/** Above 2^53, some integers cannot be represented. */
const isExact = (source: string, value: number): boolean =>
  Number.isFinite(value) &&
  (!/^[-+]?\d+$/.test(source) || BigInt(source.replace(/^\+/, '')) === BigInt(value));

const isNumber = (path: string, { value, known }: SpelledTemplate): boolean => {
  const keys = path.split('.');
  if (keys[0] === 'parameters') {
    return memberAt(value, ...keys.slice(0, 2), 'type') === 'number';
  }
  const at = keys.indexOf('toolParams');
  if (at < 0 || keys.length !== at + 2) return false;
  const config = memberAt(value, ...keys.slice(0, at));
  const tool = {
    toolId: `${memberAt(config, 'toolId')}`,
    toolAction: `${memberAt(config, 'toolAction')}`,
  };
  return known.isNumericParam(tool, keys[at + 1] ?? '');
};
