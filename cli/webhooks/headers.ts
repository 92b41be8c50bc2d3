import { type Context, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { readFileOrStdin } from '../input.js';

const LINES = 'File with headers, one "Name: value" per line';

/** Header values are secrets, which no flag takes. */
export const headersFile = textFlag('<file|->', LINES);
export const changedHeadersFile = textFlag(
  '<file|->',
  `${LINES}. A line with only a name removes the header`,
);

/** Reads lines of `Name: value` from a file or stdin. A name alone removes the header. */
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
      // The line is not repeated, because it may hold a secret.
      if (name === undefined)
        throw usageFault(`Line ${at + 1} is not in the form Name: value, such as X-Team: ops`);
      return [[name, value.trim() === '' ? null : value.trim()]];
    }),
  );
};
