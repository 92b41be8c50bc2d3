import { type Context, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { readFileOrStdin } from '../input.js';

/** The flag of the headers of a webhook. Their values are secrets, which no flag takes. */
export const headersFile = textFlag(
  '<file|->',
  'Headers that it gets, a line each: "Name: value"; without a value one is taken away',
);

/** Reads the headers from a file or stdin; undefined: none was given. Usage: another line than `Name: value` or
 * a name. */
export const headersFrom = async (
  context: Context,
  file: string | undefined,
): Promise<Record<string, string | null> | undefined> => {
  if (file === undefined) return undefined;
  const text = await readFileOrStdin(context, file);
  return Object.fromEntries(
    text.split(/\r?\n/).flatMap((line, at) => {
      if (line.trim() === '') return [];
      const [, name, value = ''] = /^([^:\s]+)\s*(?::(.*))?$/.exec(line) ?? [];
      // The line is not repeated: it may hold a secret.
      if (name === undefined) throw usageFault(`Line ${at + 1} is not Name: value`);
      return [[name, value.trim() === '' ? null : value.trim()]];
    }),
  );
};
