import type { StageQuestion } from '../pipelines/module.js';

export interface StageAnswerText {
  digest: string;
  rest: string;
}

type FieldOfQuestion = StageQuestion['fields'][number];

const ANSWER = /^answer\s+([0-9a-f]{8,64})(?:\s+([\s\S]*))?$/i;

/** `answer DIGEST VALUE`; null otherwise. */
export const parseStageAnswer = (text: string): StageAnswerText | null => {
  const [, digest, rest = ''] = ANSWER.exec(text.trim()) ?? [];
  return digest === undefined ? null : { digest: digest.toLowerCase(), rest };
};

/** `stray` is the first line that belongs to no field. */
interface FieldValues {
  values: Record<string, unknown>;
  stray?: string;
}

/**
 * The text itself for one field, else lines `key: value`. Other lines continue the previous value.
 */
export const parseFieldValues = (fields: readonly FieldOfQuestion[], text: string): FieldValues => {
  const input = new Map<FieldOfQuestion, string[]>();
  let last = fields.length === 1 ? fields[0] : undefined;
  for (const line of text.split(/\r\n?|\n/)) {
    const [, name, value = ''] = NAMED.exec(line) ?? [];
    const named = fieldNamed(fields, name);
    last = named ?? last;
    if (!last && line.trim() !== '') return { values: {}, stray: line };
    if (last) input.set(last, [...(input.get(last) ?? []), named ? value : line]);
  }
  const texts = [...input].map(([field, lines]) => [field, lines.join('\n').trim()] as const);
  const values = texts
    .filter(([, value]) => value !== '')
    .map(([field, value]) => [field.key, typedValue(field, value)]);
  return { values: Object.fromEntries(values) };
};

const NAMED = /^\s*([^:\s][^:]*?)\s*:\s*(.*)$/;

/** By key, else by label. */
const fieldNamed = (
  fields: readonly FieldOfQuestion[],
  name: string | undefined,
): FieldOfQuestion | undefined => {
  const input = name?.toLowerCase();
  return (
    fields.find(({ key }) => input === key.toLowerCase()) ??
    fields.find(({ label }) => input === label?.toLowerCase())
  );
};

/** The text if it cannot be converted. */
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
