import { PassThrough } from 'node:stream';
import { Context } from '../../cli/command.js';
import { chooseCommand, getCommandPath, performCommand, readCommon } from '../../cli/program.js';

/** What a command line names, and what is wrong with it. */
export interface Parsed {
  /** `hooks create`; '' where there is no such command. */
  path: string;
  error: unknown;
}

/** Reads a command line as the program does, and runs nothing. */
export const parse = async (words: string[]): Promise<Parsed> => {
  let path = '';
  try {
    const chosen = await chooseCommand(readCommon(words).operands);
    path = getCommandPath(chosen);
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const context = new Context({ stdin, stdout, stderr }, {}, { command: path, flagOf: String });
    const command = chosen.command && { ...chosen.command, run: async () => {} };
    await performCommand({ ...chosen, command }, words, context);
    return { path, error: null };
  } catch (error) {
    return { path, error };
  }
};

/** As a shell takes the line apart; what stands before `adjutant` is another program's. */
export const wordsOf = (line: string): string[] => {
  const own = line.replace(/^.*(?<![\w/-])adjutant /, '');
  return (own.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    word.replace(/^(['"])(.*)\1$/s, '$2'),
  );
};

/** The command of Adjutant's in a line of shell, without pipes, redirections and substitutions. */
export const ownPart = (line: string, part: string): string | undefined =>
  line.split(/ [|>&<]+ |\)/).find((each) => each.includes(part));
