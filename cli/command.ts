import type { Endpoint, EndpointName } from '../src/client/index.js';
import type { Context } from './context.js';
import type { RequestField } from './fields.js';

/** A flag of a command's own; those that follow from the contract are fields. */
export interface Flag<T> {
  /** `<file>`; a flag without one is on or off. */
  value?: string;
  about: string;
  /** The only values there are. */
  values?: readonly string[];
  /** `-f` */
  short?: string;
  /** Refuses by throwing usage(). */
  read(text: string): T;
}

export const on = (about: string): Flag<boolean> => ({ about, read: () => true });
export const textFlag = (value: string, about: string): Flag<string> => ({
  value,
  about,
  read: (given) => given,
});

export type CommandFlags = Record<string, Flag<unknown>>;
type FlagsOf<F> = { [K in keyof F]?: F[K] extends Flag<infer T> ? T : never };

type OneArg<A extends string> = A extends `<${infer N}>`
  ? { [K in N]: string }
  : A extends `[${infer N}]`
    ? { [K in N]?: string }
    : unknown;
/** Arguments by name: `'<id> [file]'` gives `{ id: string; file?: string }`. */
export type ArgsOf<A extends string> = string extends A
  ? Record<string, string | undefined>
  : A extends `${infer First} ${infer Rest}`
    ? OneArg<First> & ArgsOf<Rest>
    : OneArg<A>;

/** Input of a command: everything typed behind its name. */
export interface CommandInput<A extends string, F> {
  args: ArgsOf<A>;
  flags: FlagsOf<F>;
  /** The fields that were set, by their path in the request: `actionConfig.agentPrompt`. */
  fields: Record<string, unknown>;
  /** Value of `--data`: `@file` or `-`. */
  data?: string;
}

/** One command, as plain data and a function. */
export interface CliCommand<A extends string = string, F extends CommandFlags = CommandFlags> {
  name: string;
  aliases?: string[];
  /** In commander's spelling: `<id> [file]`. */
  args?: A;
  /** The only values of an argument, by its name. */
  values?: Record<string, readonly string[]>;
  /** One sentence, without a full stop. */
  summary: string;
  /** The endpoints that it calls; by name where only this would load their contract. */
  calls?: (Endpoint | EndpointName)[];
  /** Words behind the command's path, the plainest first; a line with `adjutant` in it is whole. */
  examples: string[];
  flags?: F;
  /** Flags made from the contract, when they are needed: to describe a schema takes time. */
  fields?(): RequestField[];
  /** `--data` gives the whole body, and the fields override it. */
  takesData?: boolean;
  /** Further lines of its help. */
  notes?: string[];
  seeAlso?: string;
  run(context: Context, given: CommandInput<A, F>): Promise<void>;
}

/** A command as it is written: without a summary it has that of the first endpoint it calls. */
interface CommandDefinition<A extends string, F extends CommandFlags>
  extends Omit<CliCommand<A, F>, 'summary'> {
  summary?: string;
}

/** Keeps the types of a command's arguments and flags. */
export const command = <const A extends string, F extends CommandFlags>(
  definition: CommandDefinition<A, F>,
): CliCommand<A, F> => {
  const first = definition.calls?.[0];
  const { summary = typeof first === 'object' ? first.summary : '' } = definition;
  return { ...definition, summary };
};

/** The examples of a command as complete lines of a shell. */
export const examplesOf = (path: string, { examples }: Pick<CliCommand, 'examples'>): string[] =>
  examples.map((example) =>
    example.includes('adjutant ') ? example : `adjutant ${path} ${example}`.trimEnd(),
  );

/** Commands about one resource, under the name of their entry. */
export interface CommandGroup {
  /** The entry's unless given. */
  summary?: string;
  commands: CliCommand[];
  /** Lines below its list of commands. */
  notes?: string[];
}
