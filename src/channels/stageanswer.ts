import type { StageQuestion } from '../pipelines/module.js';

/** An answer to the fields of a stage as it was typed: the beginning of its digest, and the rest. */
export interface TypedAnswer {
  digest: string;
  rest: string;
}

type FieldOfQuestion = StageQuestion['fields'][number];

const ANSWER = /^answer\s+([0-9a-f]{8,64})(?:\s+([\s\S]*))?$/i;

/** Parses `answer DIGEST VALUE`; returns null for any other text. */
export const answerIn = (text: string): TypedAnswer | null => {
  const [, digest, rest = ''] = ANSWER.exec(text.trim()) ?? [];
  return digest === undefined ? null : { digest: digest.toLowerCase(), rest };
};

/** The values that a typed text gives to fields, and the first line that belongs to none of them. */
interface TypedValues {
  values: Record<string, unknown>;
  stray?: string;
}

/**
 * Reads the values of fields from a typed text: the text itself if there is one field, or a line
 * `key: value` for each. A line that names no field goes on with the value before it.
 */
export const valuesTyped = (fields: readonly FieldOfQuestion[], text: string): TypedValues => {
  const given = new Map<FieldOfQuestion, string[]>();
  let last = fields.length === 1 ? fields[0] : undefined;
  for (const line of text.split(/\r\n?|\n/)) {
    const [, name, value = ''] = NAMED.exec(line) ?? [];
    const named = fieldNamed(fields, name);
    last = named ?? last;
    if (!last && line.trim() !== '') return { values: {}, stray: line };
    if (last) given.set(last, [...(given.get(last) ?? []), named ? value : line]);
  }
  const texts = [...given].map(([field, lines]) => [field, lines.join('\n').trim()] as const);
  const values = texts
    .filter(([, value]) => value !== '')
    .map(([field, value]) => [field.key, typedValue(field, value)]);
  return { values: Object.fromEntries(values) };
};

const NAMED = /^\s*([^:\s][^:]*?)\s*:\s*(.*)$/;

/** Finds the field of a key, or else of a label. */
const fieldNamed = (
  fields: readonly FieldOfQuestion[],
  name: string | undefined,
): FieldOfQuestion | undefined => {
  const given = name?.toLowerCase();
  return (
    fields.find(({ key }) => given === key.toLowerCase()) ??
    fields.find(({ label }) => given === label?.toLowerCase())
  );
};

/** Returns the value in the type of its field; the text if it cannot be read so. */
const typedValue = ({ type, options }: FieldOfQuestion, text: string): unknown => {
  const word = text.toLowerCase();
  if (type === 'number') return NUMBER.test(text) ? Number(text) : text;
  if (type === 'boolean') return YES.includes(word) ? true : NO.includes(word) ? false : text;
  if (type === 'choice')
    return options?.includes(text)
      ? text
      : (options?.find((one) => one.toLowerCase() === word) ?? text);
  return text;
};

const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const YES = ['true', 'yes', 'y'];
const NO = ['false', 'no', 'n'];
