import type { Context } from '../command.js';
import { usageFault } from '../exit.js';
import { readFileOrStdin } from '../input.js';
import { oneLine } from '../text.js';

export interface ValueField {
  key: string;
  /** Defaults to the key. */
  label?: string | undefined;
  type: string;
  required?: boolean | undefined;
  default?: unknown;
  options?: string[] | undefined;
  description?: string | undefined;
}

/** Reads `key=value` pairs by the types of the fields. `@file` reads a file. */
export const valuesFrom = async (
  context: Context,
  pairs: readonly string[],
  fields: readonly ValueField[],
): Promise<Record<string, unknown>> => {
  const values: [string, unknown][] = [];
  for (const pair of pairs) {
    const [, key, input = ''] = /^([^=]+)=([\s\S]*)$/.exec(pair) ?? [];
    if (key === undefined) throw usageFault(`"${pair}" is not in the form key=value`);
    const text = input.startsWith('@') ? await readFileOrStdin(context, input.slice(1)) : input;
    values.push([key, typedValue(text, typeIn(fields, key))]);
  }
  return Object.fromEntries(values);
};

/** Asks for each value. Empty input omits an optional value. */
export const askValues = async (
  context: Context,
  fields: readonly ValueField[],
): Promise<Record<string, unknown>> => {
  const values: [string, unknown][] = [];
  for (const field of fields) {
    const text = await askFor(context, field);
    if (text !== '') values.push([field.key, typedValue(text, field.type)]);
  }
  return Object.fromEntries(values);
};

const askFor = ({ ask }: Context, field: ValueField): Promise<string> => {
  const { key, label = key, type, required, default: initial, description, options } = field;
  const hints = [...(description === undefined ? [] : [description]), ...(options ?? [])];
  const question = {
    ask: oneLine(hints.length === 0 ? label : `${label} (${hints.join(', ')})`),
    instead: `${key}=...`,
    refuse: (typed: string) => findValueError(field, typed),
  };
  if (type === 'text' && initial === undefined) return ask.lines(question);
  const shown = initial === undefined || initial === null ? undefined : String(initial);
  return ask.text({ ...question, ...(shown !== undefined && !required && { initial: shown }) });
};

const findValueError = (
  { type, required, options }: ValueField,
  typed: string,
): string | undefined => {
  if (typed === '') return required ? 'A value is required.' : undefined;
  if (type === 'number' && !Number.isFinite(Number(typed))) return 'Enter a number.';
  if (type === 'boolean' && !/^(true|false)$/.test(typed)) return 'Enter true or false.';
  if (type === 'choice' && options && !options.includes(typed))
    return `Enter one of ${options.join(', ')}.`;
  return undefined;
};

const typedValue = (text: string, type: string | undefined): unknown => {
  if (type === 'number' && text.trim() !== '') return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
};

const typeIn = (fields: readonly ValueField[], key: string): string | undefined =>
  fields.find((field) => field.key === key)?.type;
